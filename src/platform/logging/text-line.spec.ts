import { pino } from 'pino';
import { loggedError, renderTextLine } from './pino.logger.js';

const TIME = '2026-11-26T19:03:12.345Z';
const rendered = (entry: object): string => renderTextLine(`${JSON.stringify(entry)}\n`);

describe('renderTextLine', () => {
  it('prints time, level and message, then the other fields', () => {
    const entry = { level: 'info', time: TIME, context: 'Shutdown', msg: 'Stopping (SIGTERM).', calls: 3 };
    expect(rendered(entry)).toBe(`${TIME} INFO  Stopping (SIGTERM). context=Shutdown calls=3\n`);
  });

  it('prints fields alone when there is no message', () => {
    const entry = { level: 'info', time: TIME, method: 'GET', path: '/v1/models', status: 401, key: null };
    expect(rendered(entry)).toBe(`${TIME} INFO  method=GET path=/v1/models status=401\n`);
  });

  it('prints an entry that has no time', () => {
    expect(rendered({ level: 'warn', msg: '2 log lines were dropped.' })).toBe('WARN  2 log lines were dropped.\n');
  });

  it('quotes values with spaces, and prints lists and objects as JSON', () => {
    const entry = { level: 'warn', time: TIME, msg: 'm', name: 'a b', empty: '', list: [1, 'x'], object: { a: 1 } };
    expect(rendered(entry)).toBe(`${TIME} WARN  m name="a b" empty="" list=[1,"x"] object={"a":1}\n`);
  });

  it('keeps an entry on one line and shows control characters when a text contains them', () => {
    const entry = { level: 'info', time: TIME, msg: 'one\n2 \u001B[2J', path: '\u009B31m\u202Ex', '\u001Bk': 1 };
    expect(rendered(entry)).toBe(
      `${TIME} INFO  one\\u{000a}2 \\u{001b}[2J path="\\u{009b}31m\\u{202e}x" \\u{001b}k=1\n`,
    );
  });

  it('prints the stack of an error on indented lines', () => {
    const lines: string[] = [];
    const error = Object.assign(new Error('first\n    at \u001B[2J'), { code: 'ECONNRESET' });
    pino(
      { base: null, timestamp: false, serializers: { err: loggedError } },
      { write: (line) => lines.push(line) },
    ).error({ err: error }, 'A request failed.');
    const [head = '', ...frames] = renderTextLine(lines.join('')).split('\n');
    expect(head).toContain(
      'A request failed. err.type=Error err.message="first\\n    at \\u001b[2J" err.code=ECONNRESET',
    );
    expect(frames.join('\n')).toContain('text-line.spec');
    expect(frames.slice(0, -1).every((frame) => frame.startsWith('    at '))).toBe(true);
    expect(frames.join('')).not.toContain('\u001B');
  });
});
