// The few statistics that the report needs.

/** The smallest value that so many in a hundred do not exceed; undefined of nothing. */
export function percentile(values: Float64Array, percent: number): number | undefined {
  const sorted = values.toSorted();
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
}

/** Of those that are known. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).toSorted((one, other) => one - other);
  const middle = Math.floor(known.length / 2);
  const upper = known[middle];
  return known.length % 2 === 1 || upper === undefined ? upper : ((known[middle - 1] ?? upper) + upper) / 2;
}

export function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}
