import { nanos, parseUsd } from '../../platform/shared/index.js';
import { type Reversal, stateAfter, takenBack } from './payment-facts.js';

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 23, 0, 0, second));
const TEN = parseUsd('10');

const refund = (
  id: string,
  dollars: string,
  reported: { counts?: boolean; began?: number; asOf?: number } = {},
): Reversal => ({
  id,
  kind: 'refund',
  amount: parseUsd(dollars),
  counts: reported.counts ?? true,
  beganAt: at(reported.began ?? 1),
  asOf: at(reported.asOf ?? reported.began ?? 1),
});
const total = (dollars: string, asOf: number): Reversal => ({ ...refund('ch', dollars, { asOf }), kind: 'refunds' });
const dispute = (dollars: string, counts: boolean): Reversal => ({
  ...refund('dp', dollars, { counts }),
  kind: 'dispute',
});

describe('reversed amount of a payment', () => {
  it('is zero without reversals', () => {
    expect(takenBack(TEN, [])).toBe(0n);
    expect(stateAfter(TEN, nanos(0n), [])).toBe('paid');
  });

  it('is the sum of its refunds, each once', () => {
    const reversals = [refund('a', '3'), refund('b', '2.50')];
    expect(takenBack(TEN, reversals)).toBe(parseUsd('5.5'));
    expect(stateAfter(TEN, parseUsd('5.5'), reversals)).toBe('partly_refunded');
  });

  it('is the reported total of refunds, with or without single ones', () => {
    expect(takenBack(TEN, [total('5', 3), refund('a', '3'), refund('b', '2')])).toBe(parseUsd('5'));
    expect(takenBack(TEN, [total('5', 3)])).toBe(parseUsd('5'));
  });

  it('adds single refunds newer than the total', () => {
    expect(takenBack(TEN, [total('3', 1), refund('a', '3'), refund('b', '4', { began: 5 })])).toBe(parseUsd('7'));
  });

  it('excludes failed refunds, even from an older total', () => {
    const failed = refund('b', '4', { began: 2, asOf: 9, counts: false });
    expect(takenBack(TEN, [refund('a', '3'), failed])).toBe(parseUsd('3'));
    expect(takenBack(TEN, [total('7', 3), refund('a', '3'), failed])).toBe(parseUsd('3'));
    expect(takenBack(TEN, [total('7', 3), failed])).toBe(parseUsd('3'));
  });

  it('is the total when it does not include the failed refund', () => {
    expect(takenBack(TEN, [total('5', 3), refund('b', '3', { began: 4, asOf: 9, counts: false })])).toBe(parseUsd('5'));
    expect(takenBack(TEN, [total('5', 9), refund('b', '3', { began: 2, asOf: 4, counts: false })])).toBe(parseUsd('5'));
  });

  it('includes a dispute until it is won', () => {
    expect(takenBack(TEN, [dispute('10', true)])).toBe(TEN);
    expect(stateAfter(TEN, TEN, [dispute('10', true)])).toBe('disputed');
    expect(takenBack(TEN, [refund('a', '3'), dispute('10', false)])).toBe(parseUsd('3'));
    expect(stateAfter(TEN, TEN, [refund('a', '10')])).toBe('refunded');
  });

  it('is never more than the payment', () => {
    expect(takenBack(TEN, [refund('a', '6'), dispute('10', true)])).toBe(TEN);
  });
});
