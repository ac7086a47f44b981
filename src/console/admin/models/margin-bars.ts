import type { KnownMargin } from './model-margins.js';
import { marginView } from './model-list.view.js';

const FULL = 100;

/** Margins per channel; bar widths are relative to the highest charge. */
export function marginBars(margins: ReadonlyMap<string, KnownMargin>) {
  const most = [...margins.values()].reduce((sum, { charged }) => (charged > sum ? charged : sum), 1n);
  return [...margins].map(([channel, margin]) => ({
    channel,
    ...marginView(margin),
    width: Number((margin.charged * BigInt(FULL)) / most),
  }));
}
