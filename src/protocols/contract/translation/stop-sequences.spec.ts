import { refusalOf } from '../../../../test/support/calls.js';
import { stopSequences } from './conversation.js';

describe('stopSequences', () => {
  it('drops empty ones', () => {
    expect(stopSequences(['', 'END', ' '], 'stop')).toEqual(['END', ' ']);
  });

  it('limits their number', () => {
    const many = Array.from({ length: 100 }, (_, index) => `stop ${index}`);
    expect(stopSequences(many, 'stop')).toEqual(many);
    const refusal = refusalOf(() => stopSequences([...many, 'one more'], 'stop_sequences'));
    expect(refusal.details).toEqual({ param: 'stop_sequences', fault: 'invalid_value' });
  });
});
