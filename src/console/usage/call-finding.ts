import { percent } from '../../platform/format/index.js';
import type { TimedStep } from './timed-step.js';

/** Of a call that was over so soon there is nothing to find, in ms. */
const MIN_MS = 20;

/** What most of the time of a call was spent on, as a sentence; undefined where it is too short to say. */
export function findingOf(steps: readonly TimedStep[], totalMs: number): string | undefined {
  if (totalMs < MIN_MS) return undefined;
  const times = new Map<string, number>();
  for (const { spent, spentMs, tookMs } of steps)
    if (spent !== undefined) times.set(spent, (times.get(spent) ?? 0) + (spentMs ?? tookMs ?? 0));
  const [longest] = [...times].toSorted(([, one], [, other]) => other - one);
  if (longest === undefined || longest[1] === 0) return undefined;
  const [spent, ms] = longest;
  const most = ms > totalMs / 2 ? 'Most' : 'The largest part';
  return `${most} of the time, ${percent(Math.min(ms, totalMs), totalMs)}, was spent ${spent}.`;
}
