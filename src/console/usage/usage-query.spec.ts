import { filterOf, logAddress, spanParts, usageQuery } from './usage-query.js';

const NOW = new Date('2026-11-22T11:00:00Z');
const read = (search: string) => usageQuery(Object.fromEntries(new URLSearchParams(search)), NOW, 'Europe/Berlin');
const filter = (search: string) => filterOf(read(search), { accountId: 'acc_1' }, NOW, 'Europe/Berlin');

describe('a usage log URL', () => {
  it.each([
    '',
    'range=30d&model=gpt-5.5&key=key_1&group=saver&result=cut&by=model&size=25',
    'range=custom&from=2026-11-01&to=2026-11-20&request=req_1',
    'range=span&from=2026-11-20T13:00:00.000Z&to=2026-11-20T14:00:00.000Z&chart=cost',
  ])('is written as it was read: %s', (search) => {
    const written = new URL(logAddress(read(search)), 'http://x').searchParams;
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(new URLSearchParams(search)));
  });

  it('omits defaults, and days unless the range is custom', () => {
    expect(logAddress(read('range=24h&size=50&from=2026-01-01'))).toBe('/usage-logs/common');
    expect(logAddress(read('range=custom&from=2026-11-01&to=2026-11-02'), { range: '7d' })).toBe(
      '/usage-logs/common?range=7d',
    );
  });

  it('selects the last hours, or whole days in the reader’s time zone', () => {
    expect(filter('range=7d').from.toISOString()).toBe('2026-11-15T11:00:00.000Z');
    expect(filter('range=custom&from=2026-11-20&to=2026-11-20')).toMatchObject({
      from: new Date('2026-11-19T23:00:00Z'),
      to: new Date('2026-11-20T23:00:00Z'),
    });
  });

  it('selects the time of a bar, and ignores one that is none', () => {
    const of = (from: string, to: string) => filter(`range=span&from=${from}&to=${to}`);
    expect(of('2026-11-20T13:00:00.000Z', '2026-11-20T14:00:00.000Z')).toMatchObject({
      from: new Date('2026-11-20T13:00:00Z'),
      to: new Date('2026-11-20T14:00:00Z'),
    });
    const short = logAddress(
      read('range=1h'),
      spanParts(filter('range=span&from=2026-11-20T13:00Z&to=2026-11-20T13:00:07Z')),
    );
    expect(short).toBe('/usage-logs/common?range=span&from=2026-11-20T13:00Z&to=2026-11-20T13:00:07Z');
    for (const [from, to] of [
      ['2026-11-20', '2026-11-21'],
      ['2026-11-20T13:00:00Z', '2026-11-20T13:00:00Z'],
      ['2024-11-20T13:00:00Z', '2026-11-20T13:00:00Z'],
      ['2026-13-20T13:00:00Z', '2026-14-20T13:00:00Z'],
    ] as const)
      expect(of(from, to)).toEqual(filter('range=24h'));
  });

  it('searches a request at the time in its ID regardless of the range', () => {
    const { from, to, requestId } = filter('range=1h&request=req_01a202d2077f70000000000000000000');
    expect(requestId).toBe('req_01a202d2077f70000000000000000000');
    expect(to.getTime() - from.getTime()).toBe(1);
    expect(from.getTime()).toBe(0x01a202d2077f);
    const unknown = filter('request=key_01a202d2077f70000000000000000000');
    expect(unknown.from).toEqual(unknown.to);
    expect(filter('request=req_ffffffffffff70000000000000000000').from).toEqual(NOW);
  });

  it('ignores invalid and truncates long values', () => {
    const query = read(`range=9y&result=x&by=x&size=1000&model=${'m'.repeat(1000)}&key=a%00b`);
    expect(query).toMatchObject({ range: '24h', result: '', by: '', size: 50, key: 'ab' });
    expect(query.model).toHaveLength(300);
    expect(usageQuery({ model: ['a', 'b'], range: ['7d'] }, NOW, 'UTC')).toMatchObject({ model: 'b', range: '7d' });
  });
});
