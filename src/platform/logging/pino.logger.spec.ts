import { pino } from 'pino';
import { QueryFailedError } from 'typeorm';
import { loggedError, renderTextLine } from './pino.logger.js';

/** As the driver throws it when an address is taken. */
function duplicate(): QueryFailedError {
  const driverError = Object.assign(new Error('duplicate key value violates unique constraint "accounts_email"'), {
    code: '23505',
    constraint: 'accounts_email',
    table: 'accounts',
    detail: 'Key (email)=(ann@example.com) already exists.',
    where: 'ann@example.com',
  });
  return new QueryFailedError(
    'INSERT INTO accounts VALUES ($1, $2)',
    ['ann@example.com', 'scrypt$secret'],
    driverError,
  );
}

const logged = (err: unknown): string => {
  const lines: string[] = [];
  pino({ serializers: { err: loggedError } }, { write: (line: string) => void lines.push(line) }).error(
    { err },
    'failed',
  );
  return lines.join('');
};

describe('logged errors', () => {
  it('contain message, code and stack, but no data', () => {
    const line = logged(duplicate());
    expect(line).not.toMatch(/ann@example\.com|scrypt|INSERT/);
    expect((JSON.parse(line) as { err: unknown }).err).toEqual({
      type: 'QueryFailedError',
      message: 'duplicate key value violates unique constraint "accounts_email"',
      stack: expect.stringContaining('pino.logger.spec') as string,
      code: '23505',
      constraint: 'accounts_email',
      table: 'accounts',
    });
  });

  it('contain their causes, even in a cycle', () => {
    const outer = new Error('outer', { cause: duplicate() });
    const line = logged(outer);
    expect(line).toContain('"code":"23505"');
    expect(line).not.toContain('ann@example.com');
    outer.cause = outer;
    expect(logged(outer)).toContain('"message":"outer"');
  });

  it('accept any thrown value', () => {
    expect(logged('a text')).toContain('"message":"a text"');
    expect(loggedError(undefined)).toEqual({ type: 'undefined', message: 'undefined' });
  });
});

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
    expect(frames.join('\n')).toContain('pino.logger.spec');
    expect(frames.slice(0, -1).every((frame) => frame.startsWith('    at '))).toBe(true);
    expect(frames.join('')).not.toContain('\u001B');
  });
});
