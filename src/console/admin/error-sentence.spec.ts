import { errorSentence } from './catalog-form.js';

describe('faultSentence', () => {
  it.each([
    ['is missing', 'Input is missing.'],
    [
      'refers to the model "small", which is neither in this file nor stored',
      /^The model “small” does not exist. Add it under Models & prices first/,
    ],
    [
      'refers to the group "saver", which is neither in this file nor stored',
      /^The group “saver” does not exist. Add it under Groups first/,
    ],
    ['is missing: add at least one, or set `auth: none`', 'Enter a credential, or choose “No credential”.'],
    ['needs at least one model to check', 'Add a model before running the check.'],
    [
      'must be a list of secrets, env:NAME or "***"; entry 2 is not',
      'Credential 2 is not valid. Enter a secret or env:NAME.',
    ],
    [
      'must be true, false, an integer, a string or a list of strings per name; efforts is not',
      '“efforts” has a value this flag cannot take.',
    ],
  ])('turns “%s” into a field error', (message, sentence) => {
    expect(errorSentence('Input', message)).toEqual(
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    );
  });
});
