import { NO_TOKENS } from '../contract/index.js';
import { usageIn } from './usage.js';

describe('usageIn', () => {
  it("adds hosted tools' input and reasoning, as the vendor's total does", () => {
    const reported = {
      total_tokens: 1983,
      total_input_tokens: 22,
      total_cached_tokens: 10,
      total_output_tokens: 590,
      total_tool_use_tokens: 198,
      total_thought_tokens: 1173,
    };
    const usage = usageIn(reported);
    expect(usage).toEqual({ ...NO_TOKENS, input: 220, cacheRead: 10, output: 1763, reasoning: 1173 });
    expect((usage?.input ?? 0) + (usage?.output ?? 0)).toBe(reported.total_tokens);
  });

  it('distinguishes images and audio', () => {
    const reported = {
      total_input_tokens: 300,
      total_output_tokens: 40,
      input_tokens_by_modality: [
        { modality: 'text', tokens: 10 },
        { modality: 'image', tokens: 258 },
        { modality: 'audio', tokens: 32 },
      ],
      output_tokens_by_modality: [{ modality: 'audio', tokens: 25 }],
    };
    expect(usageIn(reported)).toMatchObject({ imageInput: 258, audioInput: 32, audioOutput: 25 });
  });

  it('derives missing output from the total', () => {
    expect(usageIn({ total_input_tokens: 9, total_tokens: 20, total_thought_tokens: 4 })).toMatchObject({
      output: 11,
      reasoning: 4,
    });
  });

  it('reports totals that are no counts', () => {
    expect(usageIn({ total_input_tokens: -5, total_output_tokens: 2 })).toMatchObject({ irregular: { input: '-5' } });
    expect(usageIn({ total_input_tokens: 9, total_output_tokens: 0.5 })).toMatchObject({
      irregular: { output: '0.5' },
    });
  });

  it('is nothing without prompt and output', () => {
    expect([usageIn(undefined), usageIn({}), usageIn({ total_tokens: 9 })]).toEqual([undefined, undefined, undefined]);
  });
});
