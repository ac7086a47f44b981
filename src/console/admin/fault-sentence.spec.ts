import { faultSentence } from './fault-sentence.js';

describe('a fault of the catalog file, on a page', () => {
  it.each([
    ['is missing', 'Input is missing.'],
    [
      'names the model "small", which is neither in this file nor stored',
      /^There is no model “small” yet: add it under Models & prices first/,
    ],
    [
      'names the group "saver", which is neither in this file nor stored',
      /^There is no group “saver” yet: add it under Groups first/,
    ],
    ['is missing: give at least one, or say `auth: none`', 'Enter a credential, or choose “No credential”.'],
  ])('%s', (message, sentence) => {
    expect(faultSentence('Input', message)).toEqual(
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    );
  });
});
