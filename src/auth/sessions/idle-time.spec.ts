import { idleTime } from './session.service.js';

describe('idle session timeout', () => {
  it.each([
    [1, '1 hour'],
    [24, '24 hours'],
    [36, '36 hours'],
    [48, '2 days'],
    [336, '14 days'],
  ])('of %i hours is displayed as %s', (hours, words) => {
    expect(idleTime(hours)).toBe(words);
  });
});
