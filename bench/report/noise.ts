// What the figures themselves tell of how noisy a run was.
import type { FigureName, Figures } from './figures.ts';
import type { ScenarioResult } from './result.ts';
import { median } from './statistics.ts';

/** Of one core, in the middle of all turns. */
export function foreignPercent(scenarios: readonly ScenarioResult[]): number | undefined {
  return median(turns(scenarios).map(({ foreign_percent: foreign }) => foreign));
}

/** In the scenario where it was largest; undefined with a single round. */
export function proxySpreadPercent(scenarios: readonly ScenarioResult[]): number | undefined {
  const spreads = scenarios
    .map((scenario) => scenario.lines.find(({ subject }) => subject === 'proxy')?.rounds ?? [])
    .filter((rounds) => rounds.length > 1)
    .map((rounds) => spread(rounds, 'cpu_us'));
  return spreads.length === 0 ? undefined : Math.max(...spreads);
}

function spread(rounds: readonly Figures[], figure: FigureName): number {
  const values = rounds.map((figures) => figures[figure]).filter((value) => value !== undefined);
  return ((Math.max(...values) - Math.min(...values)) / (median(values) ?? Number.NaN)) * 100;
}

const turns = (scenarios: readonly ScenarioResult[]): readonly Figures[] =>
  scenarios.flatMap(({ lines }) => lines.flatMap(({ rounds }) => rounds));
