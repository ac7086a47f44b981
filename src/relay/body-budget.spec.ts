import type { Config } from '../config/index.js';
import { BodyBudget } from './body-budget.js';

const budgetOf = (bodyMemoryBytes: number): BodyBudget => new BodyBudget({ bodyMemoryBytes } as Config);
const OVERLOADED = { kind: 'server_is_overloaded', details: { retryAfterSeconds: expect.any(Number) as number } };

describe('the budget of bodies', () => {
  it('refuses what does not fit beside what there is, and says when to come again', () => {
    const budget = budgetOf(100);
    budget.reserve(60);
    expect(() => budget.reserve(41)).toThrow(expect.objectContaining(OVERLOADED));
    expect(budget.takenBytes).toBe(60);
    budget.reserve(40);
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
    const share = budget.reserve(50);
    budget.reserve(20);
    share.release();
    share.release();
    expect(budget.takenBytes).toBe(20);
  });
});
