import { OutcomeWindow } from './channel-outcomes.js';
import { HealthLimits } from './cooldown.js';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

const aWindow = (outcomes: string, everyMs = 0): OutcomeWindow => {
  const window = new OutcomeWindow(new HealthLimits());
  for (const [index, outcome] of Array.from(outcomes).entries()) window.add(outcome === '-', NOW_MS + index * everyMs);
  return window;
};

describe('OutcomeWindow', () => {
  it.each([
    ['', false],
    ['----', false],
    ['-----', true],
    ['+++--', false],
    ['++---', true],
    ['+++---', true],
    ['++++++++++----', false],
  ])('judges the outcomes %s as failing: %s', (outcomes, isFailing) => {
    expect(aWindow(outcomes).isFailing(NOW_MS)).toBe(isFailing);
  });

  it('drops outcomes older than a minute and keeps those younger than 55 seconds', () => {
    for (let at = 0; at < 5000; at += 100) {
      const window = new OutcomeWindow(new HealthLimits());
      for (let count = 0; count < 5; count += 1) window.add(true, NOW_MS + at);
      expect(window.isFailing(NOW_MS + at + 54_999)).toBe(true);
      expect(window.isFailing(NOW_MS + at + 60_000)).toBe(false);
    }
  });

  it('keeps counting when the clock is set back', () => {
    const window = aWindow('---');
    window.add(true, NOW_MS - 3_600_000);
    window.add(true, NOW_MS - 3_600_000);
    expect(window.count(NOW_MS)).toEqual({ outcomes: 5, failures: 5 });
  });
});
