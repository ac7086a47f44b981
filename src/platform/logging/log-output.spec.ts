import { jest } from '@jest/globals';
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogOutput } from './log-output.js';

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
