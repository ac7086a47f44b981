import { nanos } from '../../platform/shared/index.js';
import { expiring, remainingIn } from './allowance.repository.js';

const aMonth = (remaining: bigint, walletBalance: bigint, spent = 0n) => ({
  remaining: nanos(remaining),
  walletBalance: nanos(walletBalance),
  spent: nanos(spent),
});

describe('remaining allowance', () => {
  it.each([
    ['is the whole of it while nothing was called', aMonth(20n, 50n), 50n, { remaining: 20n, spent: 0n }],
    ['is less by what calls took, before any other money', aMonth(20n, 50n), 38n, { remaining: 8n, spent: 12n }],
    ['is nothing once calls took more', aMonth(20n, 50n), 25n, { remaining: 0n, spent: 25n }],
    ['goes on from what was left when the wallet was moved', aMonth(8n, 60n, 12n), 55n, { remaining: 3n, spent: 17n }],
    ['is never more than there is', aMonth(20n, 15n), 15n, { remaining: 15n, spent: 0n }],
    ['is as it was where the wallet has more than is known of', aMonth(20n, 20n), 30n, { remaining: 20n, spent: 0n }],
  ])('%s', (_, month, balance, expected) => {
    expect(remainingIn(month, nanos(balance))).toEqual(expected);
  });

  it.each([
    ['all of it', 20n, { balance: 50n, held: 30n }, 20n],
    ['only what no call holds', 20n, { balance: 50n, held: 45n }, 5n],
    ['nothing while calls hold everything', 20n, { balance: 20n, held: 20n }, 0n],
    ['nothing where nothing is left', 0n, { balance: 50n, held: 0n }, 0n],
  ])('expires: %s', (_, remaining, { balance, held }, expected) => {
    expect(expiring(nanos(remaining), { balance: nanos(balance), held: nanos(held) })).toBe(expected);
  });
});
