import { tokensIn } from './count-tokens.js';

/** Texts and tokens in o200k_base from the test plan of Microsoft's tokenizer. */
const PLAN: readonly (readonly [text: string, tokens: readonly number[]])[] = [
  ['a a', [64, 261]],
  ['hello', [24912]],
  ['Hello, World! How are you today? 🌍', [13225, 11, 5922, 0, 3253, 553, 481, 4044, 30, 130321, 235]],
  ['こんにちは、世界！お元気ですか？', [95839, 1395, 28428, 3393, 8930, 6753, 25717, 15121, 7128, 4802]],
  ['Hola, mundo! ¿Cómo estás hoy? 🇪🇸', [49864, 11, 10225, 0, 12873, 46515, 58166, 20502, 30, 173468, 103, 55506, 116]],
  ['Привет, мир! Как дела?', [23881, 131903, 11, 37934, 0, 26029, 78857, 30]],
  [
    'હેલો, વિશ્વ! તમે આજે કેમ છો? 🇮🇳',
    [6094, 187761, 11, 95706, 0, 52040, 59999, 104493, 72756, 30, 173468, 106, 55506, 111],
  ],
  [
    'יש לי כמה שאלות בנוגע לפרויקט החדש שלך. 🇮🇱',
    [7899, 42151, 60962, 129852, 2433, 34083, 110495, 108591, 181894, 162562, 69019, 13, 173468, 106, 55506, 109],
  ],
  [
    'A journey of a thousand miles begins with a single step. - Lao Tzu',
    [32, 12647, 328, 261, 26791, 10753, 18015, 483, 261, 4590, 5983, 13, 533, 144616, 353, 7846],
  ],
];

describe('tokensIn', () => {
  it.each(PLAN)('counts %j as published', (text, tokens) => {
    expect(tokensIn(text)).toBe(tokens.length);
  });

  it('counts control tokens as text', () => {
    expect(tokensIn('<|endoftext|>')).toBeGreaterThan(1);
  });

  it('counts zero for empty text', () => {
    expect(tokensIn('')).toBe(0);
  });

  // As one piece each, these would take minutes.
  it.each([
    ['letters', 'abcdefgh'.repeat(30_000), 30_000],
    ['a language without spaces', '誕生日お'.repeat(20_000), 80_000],
  ])('splits long runs of %s', (_what, text, least) => {
    expect(tokensIn(text)).toBeGreaterThanOrEqual(least);
  });

  it('counts two long runs separately', () => {
    const run = 'abcdefgh'.repeat(16);
    expect(tokensIn(`${run}${run}`)).toBe(2 * tokensIn(run));
  });
});
