import type { TreeObject } from '../contract/index.js';
import type { RequestBuild } from './gemini.build-context.js';
import { planThinking } from './gemini.build-thinking.js';

/** The `generationConfig`. @param format its members that say of which form the answer is */
export function buildConfig(build: RequestBuild, format: TreeObject = {}): TreeObject {
  const { content, flags } = build;
  const limit = outputLimitOf(build);
  const stops = content.stop.slice(0, flags.stopMax);
  return {
    ...buildSampling(build),
    maxOutputTokens: limit,
    stopSequences: stops.length > 0 ? stops : undefined,
    ...format,
    thinkingConfig: planThinking(build, limit ?? build.target.maxOutputTokens),
  };
}

/** Thoughts included. Nothing where neither the client nor its money sets a limit. */
function outputLimitOf({ content: { outputLimit }, target, losses }: RequestBuild): number | undefined {
  if (outputLimit !== undefined && outputLimit > target.maxOutputTokens) losses.warn('clamped', 'max_tokens');
  const limits = [outputLimit, target.outputLimit].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits, target.maxOutputTokens);
}

/** What asks for nothing. */
const DEFAULT: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};
/** Seeds are signed numbers of 32 bits here. */
const SEED_BITS = 32;

/** How tokens are chosen, as far as the model lets clients say it. Only what would have changed something is named. */
function buildSampling({ content: { sampling }, flags, losses }: RequestBuild): TreeObject {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed } = sampling;
  const drop = (name: string, value: number | undefined): void => {
    if (value !== undefined && value !== DEFAULT[name]) losses.warn('unsupported_parameter', name);
  };
  if (sampling.logitBias !== undefined) losses.warn('unsupported_parameter', 'logit_bias');
  // No answer of another dialect has room for them as they come.
  if (sampling.topLogprobs !== undefined) losses.warn('unsupported_parameter', 'logprobs');
  if (!flags.takesSampling) {
    drop('temperature', temperature);
    drop('top_p', topP);
    drop('top_k', topK);
  }
  if (!flags.takesPenalties) {
    drop('presence_penalty', presencePenalty);
    drop('frequency_penalty', frequencyPenalty);
  }
  return {
    ...(flags.takesSampling && { temperature, topP, topK }),
    ...(flags.takesPenalties && { presencePenalty, frequencyPenalty }),
    // A seed is no promise anywhere: another one is as good.
    seed: seed === undefined ? undefined : Number(BigInt.asIntN(SEED_BITS, BigInt(seed))),
  };
}
