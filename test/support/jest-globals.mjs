// What `@jest/globals` is to the specs: `jest`, on the globals of this process. Everything else they take from the globals.
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const mocks = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

/** jest-circus looks here when a run starts. */
const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

export const jest = {
  spyOn: mocks.spyOn.bind(mocks),
  restoreAllMocks: () => mocks.restoreAllMocks(),
  setTimeout: (timeoutMs) => {
    globalThis[TIMEOUT] = timeoutMs;
  },
  /** Node's own streams and promises live in this realm too: what drives them stays real. */
  useFakeTimers: ({ doNotFake = [], ...options } = {}) =>
    timers.useFakeTimers({ ...options, doNotFake: ['nextTick', 'queueMicrotask', ...doNotFake] }),
  useRealTimers: () => timers.useRealTimers(),
  getTimerCount: () => timers.getTimerCount(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
};

/** After a file. */
export function reset() {
  timers.useRealTimers();
  mocks.restoreAllMocks();
}
