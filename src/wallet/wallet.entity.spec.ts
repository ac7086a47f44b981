import { nanos } from '../platform/shared/index.js';
import { freeIn, takeBack, topUp } from './wallet.entity.js';

const aWallet = (balance: bigint, held: bigint, owed: bigint) => ({
  balance: nanos(balance),
  held: nanos(held),
  owed: nanos(owed),
});

describe('wallet movements', () => {
  it.each([
    ['goes to the balance where nothing is owed', aWallet(5n, 2n, 0n), 10n, { wallet: 10n, owed: 0n }],
    ['pays what is owed first', aWallet(2n, 2n, 4n), 10n, { wallet: 6n, owed: 4n }],
    ['pays no more than it is', aWallet(2n, 2n, 14n), 10n, { wallet: 0n, owed: 10n }],
    ['takes along what calls have released meanwhile', aWallet(5n, 2n, 14n), 10n, { wallet: -3n, owed: 13n }],
  ])('deposit %s', (_, wallet, amount, movement) => {
    expect(topUp(wallet, nanos(amount))).toEqual(movement);
  });

  it.each([
    ['comes out of what is free', aWallet(10n, 2n, 0n), 8n, { wallet: -8n, owed: 0n }],
    ['leaves alone what calls hold, and the rest is owed', aWallet(10n, 2n, 0n), 9n, { wallet: -8n, owed: -1n }],
    ['is owed where nothing is free', aWallet(2n, 2n, 3n), 5n, { wallet: 0n, owed: -5n }],
    ['pays an older debt with what is free', aWallet(10n, 2n, 3n), 4n, { wallet: -7n, owed: 3n }],
  ])('reverse %s', (_, wallet, amount, movement) => {
    expect(takeBack(wallet, nanos(amount))).toEqual(movement);
  });

  it.each([
    ['what no call holds', aWallet(10n, 2n, 0n), 8n],
    ['what is not owed', aWallet(10n, 2n, 3n), 5n],
    ['nothing while more is owed', aWallet(10n, 2n, 9n), 0n],
  ])('allow a debit of %s', (_, wallet, free) => {
    expect(freeIn(wallet)).toBe(free);
  });
});
