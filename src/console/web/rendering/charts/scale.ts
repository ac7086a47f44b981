/** The height of every plot, in units of its drawing; its width is `WIDTH`. The page stretches both. */
export const HEIGHT = 100;
export const WIDTH = 1000;

/** Ends of an axis whose half is a round number too. */
const ROUND = [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10];

/**
 * The least round number that nothing exceeds; 1 when there is nothing.
 * @param whole of what is counted in whole numbers, so that its half is one too
 */
export function roundedMaximum(maximum: number, whole = false): number {
  const end = maximum > 0 ? leastRound(maximum) : 1;
  return whole ? 2 * Math.ceil(end / 2) : end;
}

function leastRound(maximum: number): number {
  const power = 10 ** Math.floor(Math.log10(maximum));
  const step = ROUND.find((candidate) => candidate * power >= maximum * (1 - 1e-9)) ?? 10;
  return Number((step * power).toPrecision(6));
}

/** A number as it stands in a drawing: one hundredth is less than can be seen. */
export const at = (value: number): string => value.toFixed(2).replace(/\.?0+$/, '');

/** Some of the labels below a plot: the first, the last, and what lies evenly between them. */
export function spread(labels: readonly string[], most = 4): string[] {
  const number = Math.min(most, labels.length);
  if (number < 2) return [...labels];
  return Array.from(
    { length: number },
    (_, index) => labels[Math.round((index * (labels.length - 1)) / (number - 1))] ?? '',
  );
}
