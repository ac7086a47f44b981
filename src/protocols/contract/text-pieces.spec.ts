import { textPieces } from './token-estimate.js';

const NAMES = new Set(['content', 'reasoning', 'reasoning_content', 'arguments', 'input', 'name']);

const textsOf = (value: unknown): string[] => textPieces(value, NAMES);

describe('textPieces', () => {
  it('finds strings of the named members at any depth only', () => {
    const message = { role: 'assistant', content: 'Hello', tool_calls: [{ id: 'c', function: { name: 'f' } }] };
    expect(textsOf({ choices: [{ message }] })).toEqual(['Hello', 'f']);
  });

  it('counts a string under two names of an object once', () => {
    expect(textsOf({ delta: { reasoning: 'Hm', reasoning_content: 'Hm', content: 'Hi' } })).toEqual(['Hm', 'Hi']);
  });

  it('returns an object as JSON', () => {
    expect(textsOf({ input: { type: 'x', city: 'Oslo' } })).toEqual(['{"type":"x","city":"Oslo"}']);
    expect(textsOf({ input: {} })).toEqual([]);
  });

  it('ignores excessively nested values', () => {
    let nested: object = { content: 'deep' };
    for (let depth = 0; depth < 100_000; depth++) nested = { nested };
    expect(textsOf(nested)).toEqual([]);
  });
});
