import { jest } from '@jest/globals';
import { within } from './clock.js';

const never = new Promise<never>(() => undefined);

describe('within', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('resolves with the promise, and leaves no timer behind', async () => {
    await expect(within(Promise.resolve('answer'), 1000)).resolves.toBe('answer');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects with the promise, and leaves no timer behind', async () => {
    await expect(within(Promise.reject(new Error('refused')), 1000)).rejects.toThrow('refused');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves with undefined at the limit, not before', async () => {
    let outcome: unknown = 'waiting';
    void within(never, 1000).then((result) => (outcome = result));
    await jest.advanceTimersByTimeAsync(999);
    expect(outcome).toBe('waiting');
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome).toBeUndefined();
  });
});
