import { jest } from '@jest/globals';
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { QueryFailedError } from 'typeorm';
import { loggedError, LogOutput, renderTextLine } from './pino.logger.js';

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

describe('LogOutput', () => {
  let folder: string;
  let file: string;
  let descriptor: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-log-'));
    file = join(folder, 'log');
    descriptor = openSync(file, 'a');
  });
  afterEach(() => {
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  });

  const written = (): string => readFileSync(file, 'utf8');
  async function expectSoon(text: string): Promise<void> {
    for (const end = Date.now() + 5000; written() !== text && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(written()).toBe(text);
  }

  it('writes the first line at once, and following lines together, in order', async () => {
    const write = jest.spyOn(fs, 'write');
    const output = new LogOutput(descriptor);
    output.write('one\n');
    output.write('two\n');
    output.write('three\n');
    await expectSoon('one\ntwo\nthree\n');
    const pieces: readonly unknown[] = write.mock.calls.map(([, bytes]) => bytes);
    expect(pieces.map(String)).toEqual(['one\n', 'two\nthree\n']);
    write.mockRestore();
  });

  it('loses no line that arrives during a write', async () => {
    const output = new LogOutput(descriptor);
    const line = `${'x'.repeat(999)}\n`;
    for (let count = 0; count < 50; count += 1) output.write(line);
    await expectSoon(line.repeat(50));
  });

  it('limits the size of writes, each of whole lines', async () => {
    const write = jest.spyOn(fs, 'write');
    const output = new LogOutput(descriptor, 10);
    const long = `${'x'.repeat(20)}\n`;
    output.write('first\n');
    for (const line of ['one\n', 'two\n', 'three\n', long, 'four\n']) output.write(line);
    await expectSoon(`first\none\ntwo\nthree\n${long}four\n`);
    const pieces: readonly unknown[] = write.mock.calls.map(([, bytes]) => bytes);
    expect(pieces.map(String)).toEqual(['first\n', 'one\ntwo\n', 'three\n', long, 'four\n']);
    write.mockRestore();
  });

  it('flushes at the end', () => {
    const output = new LogOutput(descriptor);
    output.write('first words\n');
    output.write('last words\n');
    output.end();
    expect(written()).toContain('last words\n');
  });

  it('reports the number of dropped lines', () => {
    const output = new LogOutput(descriptor);
    // Longer than what is kept, and the write of it is under way while the others come.
    output.write('x'.repeat(5_000_000));
    output.write('y'.repeat(5_000_000));
    output.write('dropped\n');
    output.write('dropped\n');
    output.end();
    expect(written()).toContain('2 log lines were dropped.');
    expect(written()).not.toContain('dropped\ndropped');
  });

  it('stays silent when the reader is gone', async () => {
    const gone = openSync(file, 'r');
    const output = new LogOutput(gone);
    output.write('one\n');
    output.flush();
    await new Promise((resolve) => setTimeout(resolve, 50));
    output.write('two\n');
    expect(() => output.end()).not.toThrow();
    closeSync(gone);
    expect(written()).toBe('');
  });
});
