import { jest } from '@jest/globals';
import type { Config } from '../platform/config/index.js';
import { BodyBudget, type BodyShare } from './body-budget.js';

const OVERLOADED = expect.objectContaining({
  kind: 'server_is_overloaded',
  message: 'Request buffer memory is exhausted. Retry shortly.',
  details: { retryAfterSeconds: 2 },
});

class Budget extends BodyBudget {
  constructor(bodyMemoryBytes: number) {
    super({ bodyMemoryBytes } as Config);
  }

  /** A body that has arrived. */
  hold(accountId: string, bytes: number): BodyShare {
    const share = this.open(accountId);
    share.growTo(bytes);
    return share;
  }

  /** A body that is still arriving. */
  upload(accountId: string, bytes: number, onReclaimed: () => void): BodyShare {
    const share = this.open(accountId);
    share.beginUpload(onReclaimed);
    share.growTo(bytes);
    return share;
  }
}

describe('BodyBudget', () => {
  it('rejects a request that does not fit, with a Retry-After', () => {
    const budget = new Budget(100);
    budget.hold('one', 60);
    expect(() => budget.hold('two', 41)).toThrow(OVERLOADED);
    expect(budget.takenBytes).toBe(60);
    budget.hold('two', 20);
    budget.hold('three', 20);
  });

  it('grows a share while there is room, and shrinks it on request', () => {
    const budget = new Budget(100);
    const share = budget.hold('one', 10);
    share.growTo(100);
    share.growTo(50);
    expect(budget.takenBytes).toBe(100);
    share.shrinkTo(70);
    expect(budget.takenBytes).toBe(70);
    budget.hold('two', 10);
    expect(() => share.growTo(91)).toThrow(OVERLOADED);
    expect(budget.takenBytes).toBe(80);
  });

  it('rejects a request permanently when it needs more than the total budget', () => {
    const share = new Budget(100).hold('one', 60);
    expect(() => share.growTo(101)).toThrow(expect.objectContaining({ kind: 'request_too_large' }));
  });

  it('releases a share once', () => {
    const budget = new Budget(100);
    const share = budget.hold('one', 50);
    budget.hold('two', 20);
    share.release();
    share.release();
    expect(budget.takenBytes).toBe(20);
  });
});

describe('N3: BodyBudget between accounts', () => {
  let ended: string[];
  beforeEach(() => (ended = []));
  afterEach(() => jest.useRealTimers());

  it('counts received bytes, not announced ones', () => {
    const budget = new Budget(100);
    budget.upload('one', 0, () => ended.push('one'));
    budget.hold('two', 100);
    expect(ended).toEqual([]);
  });

  it('keeps half free when an account holds more than a quarter in several requests', () => {
    const budget = new Budget(100);
    budget.hold('greedy', 20);
    budget.hold('greedy', 30);
    expect(() => budget.hold('greedy', 1)).toThrow(OVERLOADED);
    budget.hold('modest', 25);
    budget.hold('other', 25);
  });

  it('aborts the newest uploads of an account above a quarter when another account needs memory', () => {
    const budget = new Budget(100);
    for (const index of [0, 1, 2, 3]) budget.upload('greedy', 12, () => ended.push(`greedy ${index}`));
    for (const accountId of ['one', 'two', 'three']) budget.hold(accountId, 20);
    expect(ended).toEqual(['greedy 3']);
    expect(budget.takenBytes).toBe(96);
  });

  it('aborts no upload for an account above a quarter', () => {
    const budget = new Budget(100);
    budget.upload('one', 40, () => ended.push('one'));
    budget.upload('two', 40, () => ended.push('two'));
    expect(() => budget.hold('one', 30)).toThrow(OVERLOADED);
    expect(() => budget.hold('one', 1)).toThrow(OVERLOADED);
    expect(ended).toEqual([]);
  });

  it('aborts uploads slower than 100 kB/s first', () => {
    jest.useFakeTimers();
    const budget = new Budget(1_000_000);
    budget.upload('fast', 600_000, () => ended.push('fast'));
    budget.upload('slow', 190_000, () => ended.push('slow'));
    jest.advanceTimersByTime(2000);
    budget.hold('other', 250_000);
    expect(ended).toEqual(['slow']);
  });

  it('counts an upload as slow when it started fast and then stalled', () => {
    jest.useFakeTimers();
    const budget = new Budget(1_000_000);
    const upload = budget.upload('stalled', 1, () => ended.push('stalled'));
    jest.advanceTimersByTime(1000);
    upload.growTo(900_000);
    jest.advanceTimersByTime(900);
    budget.hold('other', 100_000);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(1100);
    budget.hold('other', 150_000);
    expect(ended).toEqual(['stalled']);
  });

  it('aborts no complete body', () => {
    const budget = new Budget(100);
    const upload = budget.upload('one', 90, () => ended.push('one'));
    upload.endUpload();
    expect(() => budget.hold('two', 20)).toThrow(OVERLOADED);
    expect(ended).toEqual([]);
  });
});
