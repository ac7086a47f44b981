import { jest } from '@jest/globals';
import type { Config } from '../config/index.js';
import { BodyBudget } from './body-budget.js';

const budgetOf = (bodyMemoryBytes: number): BodyBudget => new BodyBudget({ bodyMemoryBytes } as Config);
const OVERLOADED = { kind: 'server_is_overloaded', details: { retryAfterSeconds: expect.any(Number) as number } };

describe('the budget of bodies', () => {
  it('refuses what does not fit beside what there is, and says when to come again', () => {
    const budget = budgetOf(100);
    budget.reserve(60, 'one');
    expect(() => budget.reserve(41, 'two')).toThrow(expect.objectContaining(OVERLOADED));
    expect(budget.takenBytes).toBe(60);
    budget.reserve(20, 'two');
    budget.reserve(20, 'three');
  });

  it('lets a share grow as long as there is room, and never shrinks it', () => {
    const budget = budgetOf(100);
    const share = budget.reserve(0);
    share.growTo(70);
    share.growTo(30);
    expect(budget.takenBytes).toBe(70);
    expect(() => share.growTo(101)).toThrow(expect.objectContaining(OVERLOADED));
    expect(budget.takenBytes).toBe(70);
  });

  it('takes a share back once', () => {
    const budget = budgetOf(100);
    const share = budget.reserve(50, 'one');
    budget.reserve(20, 'two');
    share.release();
    share.release();
    expect(budget.takenBytes).toBe(20);
  });

  describe('between accounts', () => {
    afterEach(() => jest.useRealTimers());

    it('leaves a quarter free when an account with other bodies has more than a quarter', () => {
      const budget = budgetOf(100);
      budget.reserve(50, 'greedy');
      budget.reserve(25, 'greedy');
      expect(() => budget.reserve(1, 'greedy')).toThrow(expect.objectContaining(OVERLOADED));
      budget.reserve(25, 'modest');
    });

    it('N3: ends uploads of an account with more than a quarter when another one needs the memory', () => {
      const budget = budgetOf(100);
      const ended: number[] = [];
      for (const index of [0, 1, 2, 3]) {
        const upload = budget.reserve(0, 'greedy');
        upload.beginUpload(() => ended.push(index));
        upload.growTo(18);
      }
      budget.reserve(20, 'modest');
      budget.reserve(20, 'other');
      expect(ended).toEqual([3]);
      expect(budget.takenBytes).toBe(94);
    });

    it('does not end an upload for the account that has more than a quarter itself', () => {
      const budget = budgetOf(100);
      const onReclaimed = jest.fn();
      for (const accountId of ['one', 'two']) {
        const upload = budget.reserve(0, accountId);
        upload.beginUpload(onReclaimed);
        upload.growTo(40);
      }
      expect(() => budget.reserve(30, 'one')).toThrow(expect.objectContaining(OVERLOADED));
      expect(onReclaimed).not.toHaveBeenCalled();
    });

    it('ends uploads of less than 100 kB/s first when memory is short', () => {
      jest.useFakeTimers();
      const budget = budgetOf(1_000_000);
      const ended: string[] = [];
      for (const [name, bytes] of [
        ['fast', 600_000],
        ['slow', 190_000],
      ] as const) {
        const upload = budget.reserve(0, name);
        upload.beginUpload(({ kind }) => ended.push(`${name}: ${kind}`));
        upload.growTo(bytes);
      }
      jest.advanceTimersByTime(2000);
      budget.reserve(250_000, 'other');
      expect(ended).toEqual(['slow: server_is_overloaded']);
    });

    it('does not end a body that has arrived', () => {
      const budget = budgetOf(100);
      const onReclaimed = jest.fn();
      const upload = budget.reserve(0, 'one');
      upload.beginUpload(onReclaimed);
      upload.growTo(90);
      upload.endUpload();
      expect(() => budget.reserve(20, 'two')).toThrow(expect.objectContaining(OVERLOADED));
      expect(onReclaimed).not.toHaveBeenCalled();
    });
  });
});
