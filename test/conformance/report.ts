/**
 * A reporter of Jest: what of each half of each dialect is done, what its dialect has no word for, and what is not yet done.
 * Node runs this file as it stands, so it imports nothing of ours.
 */

import { stripVTControlCharacters } from 'node:util';

/** In the names of tests that are left out, in front of the reason. */
export const NO_WORD = 'no word for it: ';

/** A test, as Jest tells of it; a failed file stands for one that could not run. */
interface TestResult {
  /** The half, the ability. */
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

/** What Jest makes an object of for `--reporters`. */
export default class ConformanceReport {
  onRunComplete(_contexts: unknown, { testResults }: { readonly testResults: readonly FileResult[] }): void {
    process.stdout.write(testResults.map(reportOf).join(''));
  }
}

/** Of one file: a table for each half, and a line that sums it up. */
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

/** The tests of each name, in the order in which the names first come. */
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
  return `${known}; ${count(NO_WORD)} it has no words for; ${count(NOT_YET)} not yet`;
}

/** Of one ability, by its tests. */
function channelStatus(tests: readonly TestResult[]): string {
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined) return `${NOT_YET}${failed.title}: ${complaintIn(failed.failureMessages[0] ?? '')}`;
  const [, reason] = tests.map(({ title }) => title.split(` (${NO_WORD}`)).find((parts) => parts.length > 1) ?? [];
  return reason === undefined ? DONE : `${NO_WORD}${reason.replace(/\)$/, '')}`;
}

const MAX_CHARACTERS = 160;

/** The first complaint of a failed test, on one line: what was thrown, or what was expected and what was there. */
export function complaintIn(message: string): string {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim());
  const [, thrown] =
    lines
      .map((line) => /^(?:Got |\[?cause\]?: )?(?:\w*Error: )(?!Property failed|expect\()(.+)$/.exec(line))
      .find(Boolean) ?? [];
  const differences = lines.filter((line) => /^(?:[-+] (?!Expected|Received)|Expected|Received)/.test(line));
  const told = thrown ?? (differences.length > 0 ? differences.slice(0, 4).join(' ') : lines.filter(Boolean).join(' '));
  return (told || 'it fails without a word').replaceAll(/\s+/g, ' ').slice(0, MAX_CHARACTERS);
}
