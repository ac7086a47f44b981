import {
  type Effort,
  type TranslationWarnings,
  nearestEffort,
  type ReasoningRequest,
  type Sampling,
  type TreeObject,
  requestedEffort,
} from '../contract/index.js';
import type { ChatFlags } from './chat-completions.flags.js';

/** What asks for nothing. */
const DEFAULT: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};

/** How tokens are chosen. What the upstream does not know is dropped, by name. */
export function buildSampling(sampling: Sampling, flags: ChatFlags, losses: TranslationWarnings): TreeObject {
  const { topLogprobs, topK, seed, logitBias } = sampling;
  // No answer of another dialect has room for them as they come.
  if (topLogprobs !== undefined) losses.warn('unsupported_parameter', 'logprobs');
  if (topK !== undefined && !flags.topK) losses.warn('unsupported_parameter', 'top_k');
  const chosen = {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
  };
  if (flags.samplingFixed) {
    for (const [name, value] of Object.entries(chosen)) {
      if (value !== undefined && value !== DEFAULT[name]) losses.warn('unsupported_parameter', name);
    }
  }
  return { ...(!flags.samplingFixed && chosen), ...(flags.topK && { top_k: topK }), seed, logit_bias: logitBias };
}

/** The effort by the nearest name that the upstream knows. */
export function buildEffort(
  wish: ReasoningRequest,
  { efforts }: ChatFlags,
  losses: TranslationWarnings,
): Effort | undefined {
  const wished = requestedEffort(wish);
  if (wished === undefined) return undefined;
  const effort = nearestEffort(wished, efforts);
  // A model that never thinks is not asked not to.
  const isMissed = effort !== wished && !(wished === 'none' && efforts.length === 0);
  if (isMissed) losses.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', 'reasoning_effort');
  return effort;
}
