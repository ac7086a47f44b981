import { diffOf } from './change-diff.js';

/** `-1- → +2+`: old and new pieces marked. */
const shown = (line: string): string => {
  const { field, pieces, separator } = diffOf(line);
  const texts = pieces.map(({ text, isOld, isNew }) => (isOld ? `-${text}-` : isNew ? `+${text}+` : text));
  return `${field}: ${texts.join(separator)}`;
};

describe('diffOf', () => {
  it.each([
    ['tier 1 → 2', 'tier: -1- → +2+'],
    ['description (none) → cheap and slow', 'description: -(none)- → +cheap and slow+'],
    ['monthly allowance none → $20', 'monthly allowance: -none- → +$20+'],
    ['idle session timeout (hours) 336 → 5', 'idle session timeout (hours): -336- → +5+'],
    ['cost of gpt-5.5 0.5 × the price → (none)', 'cost of gpt-5.5: -0.5 × the price- → +(none)+'],
    ['groups default, saver → default, vip', 'groups: default, -saver-, +vip+'],
    ['models a → a, b', 'models: a, +b+'],
  ])('reads a changed field: %s', (line, text) => {
    expect(shown(line)).toBe(text);
  });

  it.each(['terms changed', 'credential 2 replaced', 'announcement a → b → c', ''])('keeps “%s” as it is', (line) => {
    expect(diffOf(line)).toEqual({ field: '', pieces: [{ text: line }], separator: '' });
  });
});
