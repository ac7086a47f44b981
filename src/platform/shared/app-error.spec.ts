import { codeOf, reasonOf } from './app-error.js';

describe('reasonOf', () => {
  it('returns the message in one line', () => {
    expect(reasonOf(new Error('first line\n  second line\n'))).toBe('first line; second line');
  });

  it('returns the message of the first of several errors', () => {
    expect(reasonOf(new AggregateError([new Error('refused'), new Error('late')]))).toBe('refused');
  });

  it('returns the name when the message is empty', () => {
    expect(reasonOf(new TypeError())).toBe('TypeError');
  });

  it('returns the thrown value when it is not an error', () => {
    expect(reasonOf('a text')).toBe('a text');
    expect(reasonOf(undefined)).toBe('undefined');
  });
});

describe('codeOf', () => {
  it('returns the code of Node.js or PostgreSQL errors, or undefined', () => {
    expect(codeOf(Object.assign(new Error('there already'), { code: 'EEXIST' }))).toBe('EEXIST');
    expect(codeOf(Object.assign(new Error('numbered'), { code: 7 }))).toBe('');
    expect(codeOf(null)).toBe('');
  });
});
