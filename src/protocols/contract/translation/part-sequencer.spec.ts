import { cpuMs } from '../../../../test/support/timing.js';
import type { Turn } from './content.js';
import { type CallEvent, EventGrammar, type PartStart } from './events.js';
import { PartSequencer } from './part-sequencer.js';

const call = (id: string, name = 'f'): PartStart => ({ kind: 'tool-call', id, name });

/** Emitted events, one per line; checks their grammar. */
function emitted(events: readonly CallEvent[]): string[] {
  const grammar = new EventGrammar();
  const all: CallEvent[] = [{ type: 'call-start' }, ...events];
  for (const event of all) grammar.next(event);
  return events.map((event) => {
    if (event.type === 'part-start') return `+${event.start.kind === 'tool-call' ? event.start.id : event.start.kind}`;
    if (event.type === 'part-delta') return event.text;
    return event.type === 'part-end' ? '-' : event.type;
  });
}

describe('PartSequencer', () => {
  let parts: PartSequencer;
  beforeEach(() => (parts = new PartSequencer({ turns: [] })));

  it('emits parts as they arrive', () => {
    expect(parts.start('0', { kind: 'text' })).toEqual([{ type: 'part-start', start: { kind: 'text' } }]);
    expect(parts.append('0', 'Hel')).toEqual([{ type: 'part-delta', text: 'Hel' }]);
    expect(parts.append('0', 'lo')).toEqual([{ type: 'part-delta', text: 'lo' }]);
    expect(parts.finish('0')).toEqual([{ type: 'part-end', part: { kind: 'text', text: 'Hello' } }]);
  });

  it('emits interleaved parts one after the other (case 46)', () => {
    const events = [
      ...parts.start('0', call('a')),
      ...parts.append('0', '{"x":'),
      ...parts.start('1', call('b')),
      ...parts.append('1', '{"y"'),
      ...parts.append('0', '1}'),
      ...parts.append('1', ':2}'),
      ...parts.finish('1'),
      ...parts.finish('0'),
    ];
    expect(emitted(events)).toEqual(['+a', '{"x":', '1}', '-', '+b', '{"y":2}', '-']);
  });

  it.each([[''], ['null'], [' null '], ['  '], ['{}']])('adds missing arguments: %j (case 48)', (text) => {
    const events = [...parts.start('0', call('a')), ...parts.append('0', text), ...parts.finish('0')];
    expect(emitted(events)).toEqual(['+a', '{}', '-']);
  });

  it('keeps truncated arguments (case 53)', () => {
    const events = [...parts.start('0', call('a')), ...parts.append('0', '{"x":"un'), ...parts.finishAll()];
    expect(emitted(events)).toEqual(['+a', '{"x":"un', '-']);
  });

  it('accepts any text as freeform arguments', () => {
    const start: PartStart = { kind: 'tool-call', id: 'a', name: 'f', isFreeform: true };
    const events = [...parts.start('0', start), ...parts.append('0', 'nul'), ...parts.finish('0')];
    expect(emitted(events)).toEqual(['+a', 'nul', '-']);
  });

  it('replaces missing and duplicate IDs', () => {
    const events = ['', 'a', 'a', 'a'].flatMap((id, index) => [
      ...parts.start(String(index), call(id)),
      ...parts.finish(String(index)),
    ]);
    expect(emitted(events).filter((line) => line.startsWith('+'))).toEqual(['+call_1', '+a', '+a_2', '+a_3']);
    expect(parts.callCount).toBe(4);
  });

  it("avoids IDs of the conversation's calls", () => {
    const called = (id: string): Turn => ({
      role: 'assistant',
      parts: [{ kind: 'tool-call', id, name: 'f', arguments: '{}' }],
    });
    parts = new PartSequencer({ turns: [called('call_1'), called('call_3'), called('theirs')] });
    const events = ['', ''].flatMap((id, index) => [
      ...parts.start(String(index), call(id)),
      ...parts.finish(String(index)),
    ]);
    expect(emitted(events).filter((line) => line.startsWith('+'))).toEqual(['+call_4', '+call_5']);
  });

  it('completes a part with repeated text once (case 51)', () => {
    const events = [
      ...parts.start('0', { kind: 'text' }),
      ...parts.append('0', 'Hel'),
      ...parts.complete('0', 'Hello'),
      ...parts.complete('0', 'Hello'),
      ...parts.finish('0'),
      ...parts.complete('0', 'Hello!'),
      ...parts.append('0', 'late'),
    ];
    expect(emitted(events)).toEqual(['+text', 'Hel', 'lo', '-']);
  });

  it('costs the same at the end of a long response', () => {
    const taken = cpuMs(() => {
      parts.start('0', { kind: 'text' });
      parts.start('1', call('a'));
      for (let count = 0; count < 20_000; count += 1) parts.append('0', 'word by word, ');
      parts.finish('0');
      parts.append('1', '{');
      for (let count = 0; count < 20_000; count += 1) parts.append('1', 'word by word, ');
    });
    // Copying the whole text for each delta takes over ten times as long.
    expect(taken).toBeLessThan(500);
  });

  it('ends with annotations in order', () => {
    parts.start('0', { kind: 'reasoning' });
    parts.start('1', { kind: 'text' });
    parts.append('1', 'a');
    parts.annotate('1', { url: 'u', title: 't' });
    parts.seal('0', { kind: 'signature', family: 'f', data: 'd', text: '' });
    const events = parts.finishAll();
    expect(events.map(({ type }) => type)).toEqual([
      'part-seal',
      'part-end',
      'part-start',
      'part-delta',
      'part-annotation',
      'part-end',
    ]);
    expect(events[1]).toMatchObject({ part: { kind: 'reasoning', opaque: { data: 'd' } } });
    expect(events[5]).toMatchObject({ part: { text: 'a', annotations: [{ url: 'u', title: 't' }] } });
  });
});
