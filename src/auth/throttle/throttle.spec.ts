import { durationOf } from './throttle.js';

describe('durationOf', () => {
  it.each([
    [1, '1 second'],
    [59, '59 seconds'],
    [60, '1 minute'],
    [61, '2 minutes'],
    [900, '15 minutes'],
  ])('%d s is %s', (seconds, text) => {
    expect(durationOf(seconds)).toBe(text);
  });
});
