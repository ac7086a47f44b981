import { nanos } from '../platform/shared/index.js';
import { lastingBalance } from './wallet-outlook.js';

const NOW = new Date('2026-11-21T00:00:00Z');
const anAllowance = (remaining: bigint, monthly: bigint) => ({
  monthly: nanos(monthly),
  running: { granted: nanos(20n), remaining: nanos(remaining), until: new Date('2026-12-01T00:00:00Z') },
});

describe('lastingBalance', () => {
  it.each([
    ['is all of it without an allowance', 50n, 2n, undefined, 50n],
    ['is all of it where it is spent before the allowance expires', 15n, 2n, anAllowance(15n, 20n), 15n],
    ['is without what will not be spent in time', 50n, 1n, anAllowance(15n, 0n), 45n],
    ['has the next allowance where one is given', 50n, 1n, anAllowance(15n, 20n), 65n],
    ['is without all that is left of the allowance where nothing is spent', 50n, undefined, anAllowance(15n, 0n), 35n],
    ['is without nothing where the allowance is spent in time', 50n, 2n, anAllowance(15n, 0n), 50n],
    ['is all of it where nothing was given for this month', 50n, 1n, { monthly: nanos(20n), running: undefined }, 50n],
  ])('%s', (_, balance, pace, allowance, expected) => {
    const reckoned = lastingBalance(nanos(balance), pace === undefined ? undefined : nanos(pace), allowance, NOW);
    expect(reckoned).toBe(expected);
  });
});
