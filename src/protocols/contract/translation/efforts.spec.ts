import { nearestEffort, requestedEffort } from './conversation.js';

describe('efforts', () => {
  it.each([
    ['medium', ['low', 'medium'], 'medium'],
    ['max', ['high', 'low'], 'high'],
    ['medium', ['high', 'low'], 'low'],
    ['none', ['high', 'low'], 'low'],
    ['turbo', ['low', 'turbo'], 'turbo'],
    ['turbo', ['low'], undefined],
    ['high', ['turbo'], undefined],
    ['high', [], undefined],
  ])('%s is among %j nearest to %s, lower ones first (case 84)', (effort, known, nearest) => {
    expect(nearestEffort(effort, known)).toBe(nearest);
  });

  it("are the client's, or derived from its budget, or none", () => {
    expect(requestedEffort({ show: 'text', effort: 'low', budget: 50_000 })).toBe('low');
    expect(requestedEffort({ show: 'text', effort: 'low', thinking: 'off' })).toBe('none');
    expect(requestedEffort({ show: 'text', thinking: 'on' })).toBeUndefined();
    const wished = [4096, 4097, 16_384, 16_385, 32_768, 32_769].map((budget) =>
      requestedEffort({ show: 'text', budget }),
    );
    expect(wished).toEqual(['low', 'medium', 'medium', 'high', 'high', 'xhigh']);
  });
});
