import type { Tool } from './content.js';
import { conforming, ToolNames } from './tool-names.js';

const RULE = { maxLength: 64, invalid: /[^A-Za-z0-9_-]/g };
const tool = (name: string, namespace?: string): Tool => ({
  name,
  schema: undefined,
  path: 'tools[0]',
  ...(namespace && { namespace }),
});

describe('conforming', () => {
  it.each(['a', 'get_weather-2', 'x'.repeat(64)])('keeps valid names: %s', (name) => {
    expect(conforming(name, RULE)).toBe(name);
  });

  it.each(['a.b', 'toolu:1', 'x'.repeat(70), '', 'ü'])(
    'maps invalid names deterministically: %j (cases 63, 64)',
    (name) => {
      const other = conforming(name, RULE);
      expect(other).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect([conforming(name, RULE), conforming(`${name}.`, RULE) === other]).toEqual([other, false]);
    },
  );
});

describe('ToolNames', () => {
  const names = new ToolNames([tool('get.time'), tool('read', 'files'), tool('read')], RULE);

  it('maps wire names back to tools (cases 61, 63)', () => {
    expect(names.wireName('read')).toBe('read');
    expect(names.wireName('read', 'files')).toBe('files__read');
    expect(names.toolOf('files__read')).toMatchObject({ name: 'read', namespace: 'files' });
    expect(names.toolOf(names.wireName('get.time')).name).toBe('get.time');
  });

  it('distinguishes conflicting names', () => {
    const alike = new ToolNames([tool('b', 'a'), tool('a__b')], RULE);
    const [first, second] = [alike.wireName('b', 'a'), alike.wireName('a__b')];
    expect(first).toBe('a__b');
    expect(second).toMatch(/^a__b_[\w-]*_[0-9a-f]{8}$/);
    expect([alike.toolOf(first), alike.toolOf(second)]).toMatchObject([
      { name: 'b', namespace: 'a' },
      { name: 'a__b' },
    ]);
  });

  it('accepts unknown names', () => {
    expect(names.toolOf('made_up')).toEqual({ name: 'made_up' });
  });
});
