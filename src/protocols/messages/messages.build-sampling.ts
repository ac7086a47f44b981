import type { TranslationWarnings, Sampling, TreeObject } from '../contract/index.js';
import type { RequestBuild } from './messages.build-context.js';

/** The range of `top_p` that may stand beside thinking. */
const MIN_TOP_P_WITH_THINKING = 0.95;

/** How tokens are chosen, as far as the model lets clients say it. Only what would have changed something is named. */
export function buildSampling({ content, flags, losses }: RequestBuild, isThinking: boolean): TreeObject {
  const { temperature, topP, topK } = content.sampling;
  warnOfOthers(content.sampling, losses);
  const clamped = Math.min(temperature ?? 1, 1);
  if (temperature !== undefined && temperature > clamped) losses.warn('clamped', 'temperature');
  const keepsTemperature = flags.takesSampling && (!isThinking || clamped === 1);
  const keepsTopP =
    flags.takesSampling &&
    (!isThinking || (topP ?? 1) >= MIN_TOP_P_WITH_THINKING) &&
    !(flags.takesOneSampler && temperature !== undefined);
  const keepsTopK = flags.takesSampling && !isThinking;
  if (!keepsTemperature && clamped !== 1) losses.warn('unsupported_parameter', 'temperature');
  if (!keepsTopP && (topP ?? 1) !== 1) losses.warn('unsupported_parameter', 'top_p');
  if (!keepsTopK && topK !== undefined) losses.warn('unsupported_parameter', 'top_k');
  return {
    temperature: keepsTemperature && temperature !== undefined ? clamped : undefined,
    top_p: keepsTopP ? topP : undefined,
    top_k: keepsTopK ? topK : undefined,
  };
}

/** What this dialect has no word for. A seed is no promise anywhere, so nobody misses it. */
function warnOfOthers(sampling: Sampling, losses: TranslationWarnings): void {
  if ((sampling.presencePenalty ?? 0) !== 0) losses.warn('unsupported_parameter', 'presence_penalty');
  if ((sampling.frequencyPenalty ?? 0) !== 0) losses.warn('unsupported_parameter', 'frequency_penalty');
  if (sampling.logitBias !== undefined) losses.warn('unsupported_parameter', 'logit_bias');
  if (sampling.topLogprobs !== undefined) losses.warn('unsupported_parameter', 'logprobs');
}
