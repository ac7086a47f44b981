import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDataDir } from '../support/temporary-data-dir.js';

type Figures = Readonly<Record<string, number>>;

interface Scenario {
  readonly name: string;
  readonly lines: readonly { readonly subject: string; readonly figures: Figures }[];
  readonly notes: readonly string[];
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly rows: number;
}

const BENCH = resolve(import.meta.dirname, '../../bench');
const SCRIPT = resolve(import.meta.dirname, '../../scripts/bench.mjs');
const ROWS = 1000;

// By names that the compiler does not follow: the benchmark is compiled with settings of its own.
const { lastDays, mostlyThisMonth } = (await import(join(BENCH, 'seed/spans.ts'))) as Readonly<
  Record<'lastDays' | 'mostlyThisMonth', (time: number, rows: number, now: number) => readonly Span[]>
>;
const { inPieces } = (await import(join(BENCH, 'seed/log.ts'))) as {
  readonly inPieces: (span: Span) => readonly Span[];
};
const { readOptions } = (await import(join(BENCH, 'options.ts'))) as {
  readonly readOptions: (args: readonly string[]) => { readonly scenarios: readonly string[]; readonly rows?: number };
};

const rowsOf = (spans: readonly Span[]): number => spans.reduce((sum, { rows }) => sum + rows, 0);
const monthOf = (moment: number): string => new Date(moment).toISOString().slice(0, 7);

describe('the times of seeded calls', () => {
  const now = Date.parse('2026-03-05T12:00:00Z');

  it.each([
    ['the last days', () => lastDays(30, 99_999, now)],
    ['months of which the last has most', () => mostlyThisMonth(3, 99_999, now)],
  ])('follow each other over %s, each within one month, and none is lost', (_, spans) => {
    const all = spans();
    expect(rowsOf(all)).toBe(99_999);
    for (const [index, { from, to }] of all.entries()) {
      expect(from).toBeLessThan(to);
      expect(monthOf(from)).toBe(monthOf(to - 1));
      if (index > 0) expect(from).toBe(all[index - 1]?.to);
    }
    expect(all.at(-1)?.to).toBeLessThanOrEqual(now);
  });

  it('lie in this month with seven of ten', () => {
    const spans = mostlyThisMonth(3, 1000, now);
    expect(spans.map(({ from }) => monthOf(from))).toEqual(['2025-12', '2026-01', '2026-02', '2026-03']);
    expect(spans.at(-1)?.rows).toBe(700);
  });

  it('are made in pieces that come to the whole', () => {
    const pieces = inPieces({ from: 1000, to: 9000, rows: 50_001 });
    expect(pieces.length).toBeGreaterThan(1);
    expect(rowsOf(pieces)).toBe(50_001);
    expect(pieces[0]?.from).toBe(1000);
    expect(pieces.at(-1)?.to).toBe(9000);
    for (const [index, { from }] of pieces.entries()) if (index > 0) expect(from).toBe(pieces[index - 1]?.to);
  });
});

describe('the scenarios that fill a log', () => {
  it('run when they are named, and not with all others', () => {
    expect(readOptions([]).scenarios).toEqual(expect.arrayContaining(['small-16', 'workers']));
    expect(readOptions([]).scenarios).not.toEqual(expect.arrayContaining(['log-pages']));
    expect(readOptions([]).scenarios).not.toEqual(expect.arrayContaining(['full-log']));
    expect(readOptions(['log', 'full-log', '--rows', '5000'])).toMatchObject({
      scenarios: ['log-pages', 'full-log'],
      rows: 5000,
    });
  });

  it.each(['0', '12.5', 'many'])('do not fill it with %s calls', (rows) => {
    expect(() => readOptions(['log-pages', '--rows', rows])).toThrow('--rows takes a whole number');
  });
});

/** The scenarios themselves check that the ledger is exact with the calls that they have put there. */
describe('a short run of the scenarios that fill a log', () => {
  let folder: string;
  let scenarios: readonly Scenario[];
  beforeAll(async () => {
    folder = temporaryDataDir();
    const args = [SCRIPT, 'log-pages', 'full-log', '--quick', '--rows', String(ROWS), '--no-peers', '--out', folder];
    const run = promisify(execFile)(process.execPath, args);
    await run;
    const [file = ''] = readdirSync(folder);
    ({ scenarios } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { scenarios: readonly Scenario[] });
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  const linesOf = (name: string): Readonly<Record<string, Figures>> =>
    Object.fromEntries(
      scenarios.find((scenario) => scenario.name === name)?.lines.map(({ subject, figures }) => [subject, figures]) ??
        [],
    );

  it('measures each page of a log, and names the slowest and the largest', () => {
    const lines = linesOf('log-pages');
    const pages = Object.values(lines).filter((figures) => figures['byte_p95_ms'] !== undefined);
    expect(pages.length).toBeGreaterThan(20);
    for (const page of pages) {
      expect(page['p95_ms']).toBeGreaterThanOrEqual(page['p50_ms']!);
      expect(page['p95_ms']).toBeGreaterThanOrEqual(page['byte_p95_ms']!);
      expect(page['gzip_kb']).toBeGreaterThan(1);
    }
    expect(lines['slowest page']?.['p95_ms']).toBe(Math.max(...pages.map((page) => page['p95_ms']!)));
    expect(lines['largest page']?.['gzip_kb']).toBe(Math.max(...pages.map((page) => page['gzip_kb']!)));
  });

  it('finds every call that was put there in the CSV', () => {
    expect(linesOf('log-pages')['filling the log']?.['rows']).toBe(ROWS);
    expect(linesOf('log-pages')['CSV of all']?.['rows']).toBe(ROWS);
  });

  it('compares calls beside a full log with those beside an empty one', () => {
    const { 'empty log': empty, 'full log': full } = linesOf('full-log');
    expect([empty?.['failed'], full?.['failed']]).toEqual([0, 0]);
    expect(full?.['calls_per_second']).toBeGreaterThan(0);
    expect(empty).not.toHaveProperty('empty_ratio');
  });

  // Only Linux tells what each process has used.
  (process.platform === 'linux' ? it : it.skip)('does so by what the program and its database use together', () => {
    const { 'empty log': empty, 'full log': full } = linesOf('full-log');
    for (const figures of [empty, full])
      expect(figures?.['both_us']).toBeCloseTo(figures!['cpu_us']! + figures!['database_us']!);
    expect(full?.['empty_ratio']).toBeCloseTo(full!['both_us']! / empty!['both_us']!);
  });
});
