import { billingText } from './error-text.js';

const report = { cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };

describe('why a call was charged what it was', () => {
  it('names what the upstream reported, and why that was not charged, when the usage was corrected', () => {
    const upstreamReport = {
      ...report,
      findings: ['prompt_too_large', 'completion_zero'],
      prompt_tokens: 1e10,
      completion_tokens: 0,
    };
    expect(billingText({ result: 'completed', billingBasis: 'corrected', upstreamReport })).toBe(
      'Corrected: the upstream reported prompt 10,000,000,000, completion 0, which is implausible: the prompt cannot have that many tokens, and the response was not empty. The tokens counted here are charged instead.',
    );
  });

  it('says which part was missing when the rest was counted', () => {
    const upstreamReport = { ...report, findings: ['prompt_missing'], prompt_tokens: null, completion_tokens: '-5' };
    expect(billingText({ result: 'completed', billingBasis: 'estimated', upstreamReport })).toBe(
      'The upstream reported only part of the usage (prompt not given, completion -5); the rest was counted here.',
    );
  });
});
