import { NO_TOKENS } from '../contract/index.js';
import { reportsOutput, usageIn } from './response-reader.js';

const STANDARD = { ...NO_TOKENS, serviceTier: 'standard' };

describe('Gemini usage', () => {
  it('includes reasoning in the output', () => {
    const reported = { promptTokenCount: 9, candidatesTokenCount: 2, thoughtsTokenCount: 30, totalTokenCount: 41 };
    expect(usageIn(reported)).toEqual({ ...STANDARD, input: 9, output: 32, reasoning: 30 });
  });

  it("includes cached tokens in the prompt and adds hosted tools' input", () => {
    const reported = {
      promptTokenCount: 1000,
      cachedContentTokenCount: 800,
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 2,
      totalTokenCount: 1052,
    };
    expect(usageIn(reported)).toEqual({ ...STANDARD, input: 1050, cacheRead: 800, output: 2 });
  });

  it('distinguishes images and audio', () => {
    const reported = {
      promptTokenCount: 300,
      candidatesTokenCount: 40,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'IMAGE', tokenCount: 258 },
        { modality: 'AUDIO', tokenCount: 32 },
      ],
      candidatesTokensDetails: [
        { modality: 'AUDIO', tokenCount: 25 },
        { modality: 'TEXT', tokenCount: 15 },
      ],
    };
    expect(usageIn(reported)).toMatchObject({ imageInput: 258, audioInput: 32, audioOutput: 25 });
  });

  it('derives missing output from the total', () => {
    expect(usageIn({ promptTokenCount: 9, thoughtsTokenCount: 5, totalTokenCount: 20 })).toMatchObject({
      output: 11,
      reasoning: 5,
    });
    expect(usageIn({ promptTokenCount: 9 })).toEqual({ ...STANDARD, input: 9 });
  });

  it('is undefined without counts, or with a total only', () => {
    expect(usageIn({})).toBeUndefined();
    expect(usageIn({ trafficType: 'ON_DEMAND', promptTokenCount: 'nine' })).toBeUndefined();
    expect(usageIn({ totalTokenCount: 20 })).toBeUndefined();
  });

  it('reports output once it is counted', () => {
    expect(reportsOutput({ promptTokenCount: 9, totalTokenCount: 9 })).toBe(false);
    expect(reportsOutput({ promptTokenCount: 9, thoughtsTokenCount: 4 })).toBe(true);
    expect(reportsOutput({ promptTokenCount: 9, totalTokenCount: 20 })).toBe(true);
    expect(reportsOutput({ candidatesTokenCount: 1 })).toBe(true);
  });
});
