/**
 * A Jest reporter: for each half of each protocol, what is done, unsupported or missing. Run by Node directly, so it
 * imports no project files.
 */

import { stripVTControlCharacters } from 'node:util';

/** Prefix of the reason in names of skipped tests. */
export const UNSUPPORTED = 'unsupported: ';

/** A test; also stands for a file that could not run. */
interface TestResult {
  /** Half and ability. */
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

interface FileResult {
  readonly testFilePath: string;
  readonly testExecError?: { readonly message?: string } | null | undefined;
  readonly failureMessage?: string | null | undefined;
  readonly testResults: readonly TestResult[];
}

/** Constructed by Jest for `--reporters`. */
export default class ConformanceReport {
  onRunComplete(_contexts: unknown, { testResults }: { readonly testResults: readonly FileResult[] }): void {
    process.stdout.write(testResults.map(reportOf).join(''));
  }
}

/** A table and a summary per half of a file. */
export function reportOf({ testFilePath, testResults, testExecError, failureMessage }: FileResult): string {
  if (testResults.length === 0) {
    const reason = complaintIn(testExecError?.message ?? failureMessage ?? 'it has no tests');
    return `\n${testFilePath.replace(/.*\//, '')} does not run: ${reason}\n`;
  }
  const halves = grouped(testResults, ({ ancestorTitles }) => ancestorTitles[0] ?? '');
  return [...halves].map(([half, tests]) => tableOf(half, tests)).join('');
}

function tableOf(half: string, tests: readonly TestResult[]): string {
  const abilities = grouped(tests, ({ ancestorTitles, title }) => ancestorTitles[1] ?? title);
  const rows = [...abilities].map(([ability, shown]): [string, string] => [ability, channelStatus(shown)]);
  const width = Math.max(...rows.map(([ability]) => ability.length));
  const lines = rows.map(([ability, standing]) => `  ${ability.padEnd(width)}  ${standing}\n`);
  return `\n${half}\n${lines.join('')}${summaryOf(
    half,
    rows.map(([, standing]) => standing),
  )}\n`;
}

/** In order of first occurrence. */
function grouped(tests: readonly TestResult[], nameOf: (test: TestResult) => string): Map<string, TestResult[]> {
  const groups = new Map<string, TestResult[]>();
  for (const test of tests) groups.set(nameOf(test), [...(groups.get(nameOf(test)) ?? []), test]);
  return groups;
}

const DONE = 'done';
const NOT_YET = 'not yet: ';

function summaryOf(half: string, standings: readonly string[]): string {
  const count = (start: string): number => standings.filter((standing) => standing.startsWith(start)).length;
  const known = `${half}: ${count(DONE)} of ${standings.length} abilities`;
  return `${known}; ${count(UNSUPPORTED)} unsupported; ${count(NOT_YET)} not yet`;
}

function channelStatus(tests: readonly TestResult[]): string {
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined) return `${NOT_YET}${failed.title}: ${complaintIn(failed.failureMessages[0] ?? '')}`;
  const [, reason] = tests.map(({ title }) => title.split(` (${UNSUPPORTED}`)).find((parts) => parts.length > 1) ?? [];
  return reason === undefined ? DONE : `${UNSUPPORTED}${reason.replace(/\)$/, '')}`;
}

const MAX_CHARACTERS = 160;

/** The first error of a failed test on one line. */
export function complaintIn(message: string): string {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim());
  const [, thrown] =
    lines
      .map((line) => /^(?:Got |\[?cause\]?: )?(?:\w*Error: )(?!Property failed|expect\()(.+)$/.exec(line))
      .find(Boolean) ?? [];
  const differences = lines.filter((line) => /^(?:[-+] (?!Expected|Received)|Expected|Received)/.test(line));
  const reported =
    thrown ?? (differences.length > 0 ? differences.slice(0, 4).join(' ') : lines.filter(Boolean).join(' '));
  return (reported || 'it fails without a word').replaceAll(/\s+/g, ' ').slice(0, MAX_CHARACTERS);
}
