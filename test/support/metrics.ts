import type { RelayApp } from './relay-app.js';

/** What `/metrics` says, by `name{label="value",…}` with the labels in the order of their names. */
export type MetricValues = ReadonlyMap<string, number>;

const LINE = /^(?<name>\w+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;

export function readMetrics(text: string): MetricValues {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const { name = '', labels, value } = LINE.exec(line)?.groups ?? {};
      if (name === '') throw new Error(`This is no metric: ${line}`);
      return [labels === undefined ? name : `${name}{${inOrder(labels)}}`, Number(value)];
    }),
  );
}

const inOrder = (labels: string): string => (labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? []).toSorted().join(',');

/** The names of everything that is measured, by what Prometheus is told of their types. */
export const namesIn = (text: string): string[] => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);

export async function metricsOf(relay: RelayApp): Promise<MetricValues> {
  return readMetrics(await (await fetch(`${relay.url}/metrics`)).text());
}

/** What has become more since, and by how much; what it is now of what goes up and down. */
export function changes(before: MetricValues, after: MetricValues): Record<string, number> {
  const moved = [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(moved.filter(([, by]) => by !== 0));
}
