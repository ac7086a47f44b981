import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RefusedEvents } from './webhook-events.repository.js';

describe('RefusedEvents', () => {
  const lines: unknown[] = [];
  let refused: RefusedEvents;
  beforeEach(() => {
    jest.useFakeTimers();
    lines.length = 0;
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(line));
    refused = new RefusedEvents();
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const note = (events: number): void => {
    for (let count = 0; count < events; count += 1) refused.note('no signature');
  };
  const FIRST = 'Rejected an event with an invalid or expired Stripe signature: no signature';

  it('logs the first event of a minute, and the number of the others', () => {
    note(1000);
    expect(lines).toEqual([FIRST]);
    jest.advanceTimersByTime(60_000);
    note(1);
    jest.advanceTimersByTime(60_000);
    expect(lines).toEqual([FIRST, { left_out: 999 }, FIRST]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('logs the remaining number at shutdown', () => {
    note(3);
    refused.onApplicationShutdown();
    expect(lines).toEqual([FIRST, { left_out: 2 }]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
