// Jest's `testSequencer`. Its own order knows no durations in a fresh checkout, and starts files by size: the longest may
// start last and leave cores idle, and those that take whole cores may start all at once.
import TestSequencer from '@jest/test-sequencer';

/** Their files take up to minutes, most of them with several processes of their own. The slowest first. */
const HEAVY = ['long', 'browser', 'services'];
/** The share of the other files that runs between the heavy ones. The rest, the smaller ones, runs at the end. */
const BETWEEN = 0.5;

const laneOf = (test) => test.context.config.displayName?.name;

export default class SpreadHeavyFiles extends TestSequencer {
  /** Heavy files are spread evenly over the others, so that few of them run at a time and none is the last. */
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's, which returns a copy
    const sorted = super.sort(tests);
    const heavy = HEAVY.flatMap((lane) => sorted.filter((test) => laneOf(test) === lane));
    const others = sorted.filter((test) => !HEAVY.includes(laneOf(test)));
    const step = heavy.length === 0 ? 0 : (others.length * BETWEEN) / heavy.length;
    const before = (index) => Math.floor(index * step);
    return [
      ...heavy.flatMap((test, index) => [test, ...others.slice(before(index), before(index + 1))]),
      ...others.slice(before(heavy.length)),
    ];
  }
}
