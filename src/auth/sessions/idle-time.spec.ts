import { idleTime } from './session.service.js';

describe('how long a browser may go without a visit', () => {
  it.each([
    [1, '1 hour'],
    [24, '24 hours'],
    [36, '36 hours'],
    [48, '2 days'],
    [336, '14 days'],
  ])('is said of %i hours as %s', (hours, words) => {
    expect(idleTime(hours)).toBe(words);
  });
});
