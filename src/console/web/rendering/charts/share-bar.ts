import { percent } from '../../../../platform/format/index.js';
import { at, WIDTH } from './scale.js';

export interface Share {
  readonly name: string;
  readonly value: number;
  /** `f1` to `f5`. */
  readonly class: string;
}

const GAP = 3;

/** What parts a whole has, in one bar; undefined when there is nothing to show. */
export function shareBar(finding: string, shares: readonly Share[]) {
  const there = shares.filter(({ value }) => value > 0);
  const total = there.reduce((sum, { value }) => sum + value, 0);
  if (total === 0) return undefined;
  const room = WIDTH - GAP * (there.length - 1);
  let x = 0;
  const parts = there.map(({ name, value, class: colour }) => {
    const width = (value / total) * room;
    const part = { name, share: percent(value, total), class: colour, x: at(x), width: at(width) };
    x += width + GAP;
    return part;
  });
  return { label: `${finding}: ${parts.map(({ name, share }) => `${share} ${name}`).join(', ')}`, parts };
}

/** How much of a quota is used, as the partial `quota-meter` draws it. */
export function quotaMeter(used: bigint, quota: bigint) {
  const share = quota <= 0n ? 100 : Math.min(100, Number((used * 1000n) / quota) / 10);
  const colour = share >= 80 ? 'f2' : 'f1';
  return {
    width: at(share),
    // Rounded down: what is not used up never says 100%.
    percent: Math.floor(share),
    class: quota <= 0n || used >= quota ? 'fbad' : colour,
  };
}
