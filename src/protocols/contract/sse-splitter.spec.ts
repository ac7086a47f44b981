import fc from 'fast-check';
import { cpuMs, LINEAR_MS } from '../../../test/support/timing.js';
import { AppError } from '../../platform/shared/index.js';
import { renderSse, type SseEvent, SseSplitter } from './sse.js';

interface Seen {
  readonly name: string | undefined;
  readonly data: string;
  readonly isComment: boolean;
}

const seen = ({ name, data, isComment }: SseEvent): Seen => ({ name, data, isComment });

function split(bytes: Uint8Array, chunkSizes: readonly number[] = [Infinity]): SseEvent[] {
  const splitter = new SseSplitter();
  const events: SseEvent[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, chunkSizes[turn % chunkSizes.length] ?? Infinity);
    events.push(...splitter.next(bytes.subarray(at, at + size)));
    at += size;
  }
  return [...events, ...splitter.end()];
}

const read = (text: string, ...chunkSizes: number[]): Seen[] =>
  split(Buffer.from(text), chunkSizes.length === 0 ? [Infinity] : chunkSizes).map(seen);

const event = (data: string, name?: string): Seen => ({ name, data, isComment: false });

describe('SseSplitter', () => {
  it('reads names and data', () => {
    expect(read('event: ping\ndata: {"a":1}\n\ndata: {"b":2}\n\n')).toEqual([
      event('{"a":1}', 'ping'),
      event('{"b":2}'),
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('accepts %j as line end (case 8)', (lineEnd) => {
    const text = 'event: a\ndata: {"x":"ü"}\n\n: comment\n\ndata: 1\ndata: 2\n\n'.replaceAll('\n', lineEnd);
    const expected = [event('{"x":"ü"}', 'a'), { name: undefined, data: '', isComment: true }, event('1\n2')];
    expect(read(text)).toEqual(expected);
    expect(read(text, 1)).toEqual(expected);
  });

  it('treats CR and LF in separate chunks as one line end (case 8)', () => {
    expect(read('data: 1\r\n\r\ndata: 2\r\n\r\n', 10, 1, 50)).toEqual([event('1'), event('2')]);
    expect(read('data: 1\r\n\r\ndata: 2\r\n\r\n', 8, 2, 50)).toEqual([event('1'), event('2')]);
  });

  it('gives the same events byte by byte (case 9)', () => {
    const text = 'event: a\ndata: {"x":1}\n\ndata: {"y":2}\n\n';
    expect(read(text, 1)).toEqual(read(text));
  });

  it('keeps a character split across chunks (case 10)', () => {
    const text = 'data: {"x":"a😀b"}\n\n';
    const emoji = Buffer.from('data: {"x":"a').length;
    for (const cut of [1, 2, 3]) expect(read(text, emoji + cut, 100)).toEqual([event('{"x":"a😀b"}')]);
  });

  it('treats comments, IDs and retry times as comments (case 11)', () => {
    const [comment, data] = split(Buffer.from(': hello\nretry: 5\nid: 7\n\nid: 8\ndata: 1\n\n'));
    expect(comment?.isComment).toBe(true);
    expect(data).toMatchObject({ data: '1', isComment: false });
  });

  it('joins data lines, with and without space (cases 12 and 13)', () => {
    expect(read('data:{"a":\ndata: 1}\n\n')).toEqual([event('{"a":\n1}')]);
    expect(read('data:  two spaces\n\n')).toEqual([event(' two spaces')]);
    expect(read('data\n\n')).toEqual([event('')]);
  });

  it('accepts a 12 MiB event in small chunks in linear time (case 14)', () => {
    const data = `{"image":"${'A'.repeat(12 * 1024 * 1024)}"}`;
    const bytes = Buffer.from(`data: ${data}\n\ndata: 2\n\n`);
    let events: SseEvent[] = [];
    expect(cpuMs(() => (events = split(bytes, [512])))).toBeLessThan(LINEAR_MS);
    expect(events.map((one) => one.raw.length)).toEqual([data.length + 8, 9]);
    expect(events[0]?.data === data).toBe(true);
  });

  it('emits 200 events of one chunk in order (case 15)', () => {
    const numbers = Array.from({ length: 200 }, (_, index) => String(index));
    expect(read(numbers.map((number) => `data: ${number}\n\n`).join('')).map(({ data }) => data)).toEqual(numbers);
  });

  it('emits a last event without its empty line (case 16)', () => {
    expect(read('data: 1\n\ndata: {"a":2}\n')).toEqual([event('1'), event('{"a":2}')]);
    expect(read('data: {"a":2}')).toEqual([event('{"a":2}')]);
    expect(read('data: [DONE]')).toEqual([event('[DONE]')]);
  });

  it('drops an event truncated within a line', () => {
    expect(read('data: 1\n\ndata: {"a":')).toEqual([event('1')]);
    expect(read('data: 1\n\nda')).toEqual([event('1')]);
    expect(read('data: 1\r\n\r\n\r\n')).toHaveLength(2);
    expect(read('')).toEqual([]);
  });

  it('skips a byte order mark (case 17)', () => {
    expect(read('\uFEFFdata: 1\n\n')).toEqual([event('1')]);
    expect(read('\uFEFFevent: a\ndata: 1\n\n', 1)).toEqual([event('1', 'a')]);
  });

  it('rejects an event over the limit', () => {
    const splitter = new SseSplitter(100);
    splitter.next(Buffer.from(`data: ${'x'.repeat(50)}`));
    expect(() => splitter.next(Buffer.from('x'.repeat(50)))).toThrow(AppError);
  });
});

describe('client bytes of an event', () => {
  it('are unchanged', () => {
    const text = 'event: a\nx: unknown\ndata: {"a": 1.0}\n\n';
    const [first] = split(Buffer.from(text));
    expect(first?.wire).toBe(first?.raw);
    expect(first?.wire.toString()).toBe(text);
  });

  it.each([
    'event: a\r\ndata: 1\r\n\r\n',
    '\uFEFFevent: a\ndata: 1\n\n',
    'event: a\ndata: 1\n',
    'event: a\rdata: 1\r\r',
  ])('are normalized to line feeds, without byte order mark, with an empty line: %j', (text) => {
    expect(split(Buffer.from(text)).map((one) => one.wire.toString())).toEqual(['event: a\ndata: 1\n\n']);
  });

  it('are rendered with the name first (case 23)', () => {
    expect(renderSse('a', '{"x":1}').toString()).toBe('event: a\ndata: {"x":1}\n\n');
    expect(renderSse(undefined, '1\n2').toString()).toBe('data: 1\ndata: 2\n\n');
  });
});

describe('R7: any stream', () => {
  const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n]/g, ' ').replace(/^\uFEFF/, ''));
  const block = fc.oneof(
    line.map((text) => [`data: ${text}`]),
    fc.tuple(line, line).map(([name, data]) => [`event: ${name}`, `data:${data}`]),
    fc.tuple(line, line).map(([one, other]) => [`data: ${one}`, `data: ${other}`]),
    line.map((text) => [`: ${text}`]),
  );
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
  const stream = fc
    .array(fc.tuple(block, lineEnd), { maxLength: 12 })
    .map((blocks) => blocks.map(([lines, end]) => [...lines, ''].map((one) => one + end).join('')).join(''));

  it('gives the same events however it is cut, without losing bytes', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (text, sizes) => {
        const bytes = Buffer.from(text);
        const whole = split(bytes);
        const cut = split(bytes, sizes);
        expect(cut.map(seen)).toEqual(whole.map(seen));
        expect(cut.map((one) => one.wire.toString())).toEqual(whole.map((one) => one.wire.toString()));
        expect(Buffer.compare(Buffer.concat(whole.map(({ raw }) => raw)), bytes)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});
