// The result as a person reads it.
import { columnOf, FIGURE_NAMES, type FigureName } from './figures.ts';
import type { Result, ScenarioResult, Verdict } from './result.ts';

export function renderResult(result: Result): string {
  return [...result.scenarios.map(renderScenario), renderTargets(result.targets), renderNoise(result)].join('\n\n');
}

function renderScenario({ name, title, lines, notes }: ScenarioResult): string {
  const columns = FIGURE_NAMES.filter(
    (figure) => !columnOf(figure).hidden && lines.some(({ figures }) => figures[figure] !== undefined),
  );
  const rows = [
    ['', ...columns.map((figure) => columnOf(figure).head)],
    ...lines.map(({ subject, figures }) => [subject, ...columns.map((figure) => cell(figure, figures[figure]))]),
  ];
  return [`${name}: ${title}`, ...align(rows), ...notes.map((note) => `  ! ${note}`)].join('\n');
}

const cell = (figure: FigureName, value: number | undefined): string =>
  value === undefined ? '–' : value.toFixed(columnOf(figure).digits);

/** The first column to the left, the others to the right. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map(
    (row) =>
      `  ${row.map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0))).join('  ')}`,
  );
}

function renderTargets(targets: readonly Verdict[]): string {
  const rows = targets.map((verdict) => [wordOf(verdict), verdict.target, verdict.measured ?? '']);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
  return ['Targets', ...lines].join('\n');
}

function wordOf({ measured, met }: Verdict): string {
  if (measured === undefined) return 'not run';
  if (met === undefined) return 'too short to judge';
  return met ? 'met' : 'MISSED';
}

function renderNoise({ noise, pinned, machine, node, seconds }: Result): string {
  const { loadAverageBefore, stolenPercent, foreignPercent, proxySpreadPercent } = noise;
  const percent = (value: number | undefined): string => (value === undefined ? 'unknown' : `${value.toFixed(1)} %`);
  return [
    `Machine: ${machine.cores} × ${machine.cpu}, ${machine.memoryMb} MB; Node ${node}; ${seconds.toFixed(0)} s.`,
    pinned ? 'The measured program had a core to itself.' : 'Nothing was pinned: programs took each other’s time.',
    `Noise: load average before ${loadAverageBefore.map((load) => load.toFixed(2)).join(' ')}; ` +
      `stolen by the host ${percent(stolenPercent)} of a core; other programs ${percent(foreignPercent)} of a core; ` +
      `the bare proxy’s CPU spread by ${percent(proxySpreadPercent)} between rounds.`,
  ].join('\n');
}
