import { refusalOf } from '../../../../test/support/calls.js';
import { stopSequences } from './conversation.js';

describe('texts that end an answer', () => {
  it('are those that are not empty', () => {
    expect(stopSequences(['', 'END', ' '], 'stop')).toEqual(['END', ' ']);
  });

  it('are no more than can be looked for in everything that is said', () => {
    const many = Array.from({ length: 100 }, (_, index) => `stop ${index}`);
    expect(stopSequences(many, 'stop')).toEqual(many);
    const refusal = refusalOf(() => stopSequences([...many, 'one more'], 'stop_sequences'));
    expect(refusal.details).toEqual({ param: 'stop_sequences', fault: 'invalid_value' });
  });
});
