import type { KnownMargin } from './model-margins.js';
import { marginView } from './model-list.view.js';

const FULL = 100;

/** What each channel brought, with a bar of what was charged there beside the most that was. */
export function marginBars(margins: ReadonlyMap<string, KnownMargin>) {
  const most = [...margins.values()].reduce((sum, { charged }) => (charged > sum ? charged : sum), 1n);
  return [...margins].map(([channel, margin]) => ({
    channel,
    ...marginView(margin),
    width: Number((margin.charged * BigInt(FULL)) / most),
  }));
}
