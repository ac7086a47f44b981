import {
  type CallContent,
  DEFAULT_SERVICE_TIERS,
  requestedEffort,
  type TranslationWarnings,
} from '../../../src/protocols/contract/index.js';

/**
 * Warns of every member of the request that Telegraph lacks, unless it would change nothing: `temperature: 1`, `seed`,
 * `verbosity`, cache keys, `strict`. Paths are the common names of members, as `TranslationWarnings.warn` lists them.
 */
export function warnOfUnsaid(content: CallContent, warnings: TranslationWarnings): void {
  const { sampling, tools, turns } = content;
  const effort = requestedEffort(content.reasoning) ?? 'none';
  const unsaid: Readonly<Record<string, boolean>> = {
    temperature: (sampling.temperature ?? 1) !== 1,
    top_p: (sampling.topP ?? 1) !== 1,
    top_k: sampling.topK !== undefined,
    presence_penalty: (sampling.presencePenalty ?? 0) !== 0,
    frequency_penalty: (sampling.frequencyPenalty ?? 0) !== 0,
    logit_bias: sampling.logitBias !== undefined,
    logprobs: sampling.topLogprobs !== undefined,
    reasoning_effort: effort !== 'none',
    parallel_tool_calls: tools.length > 0 && content.parallelTools === false,
    service_tier: !DEFAULT_SERVICE_TIERS.includes(content.serviceTier ?? 'auto'),
  };
  for (const [name, isMissed] of Object.entries(unsaid)) if (isMissed) warnings.warn('unsupported_parameter', name);
  if (turns.at(-1)?.role === 'assistant') warnings.warn('prefill', 'messages');
}
