import { codeOf, reasonOf } from './app-error.js';

describe('the text of an error', () => {
  it('is its message in one line', () => {
    expect(reasonOf(new Error('first line\n  second line\n'))).toBe('first line; second line');
  });

  it('is that of the first of several', () => {
    expect(reasonOf(new AggregateError([new Error('refused'), new Error('late')]))).toBe('refused');
  });

  it('is its name when it says nothing', () => {
    expect(reasonOf(new TypeError())).toBe('TypeError');
  });

  it('is what was thrown, when that is no error', () => {
    expect(reasonOf('a text')).toBe('a text');
    expect(reasonOf(undefined)).toBe('undefined');
  });
});

describe('the code of an error', () => {
  it('is that of Node or PostgreSQL, or nothing', () => {
    expect(codeOf(Object.assign(new Error('there already'), { code: 'EEXIST' }))).toBe('EEXIST');
    expect(codeOf(Object.assign(new Error('numbered'), { code: 7 }))).toBe('');
    expect(codeOf(null)).toBe('');
  });
});
