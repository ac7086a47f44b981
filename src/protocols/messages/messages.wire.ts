import {
  cacheWrites,
  NO_TOKENS,
  type StopReason,
  type TokenUsage,
  type TreeObject,
  type UsagePass,
} from '../contract/index.js';

// What answers of this dialect are made of, streamed or not.

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  tool_calls: 'tool_use',
  max_tokens: 'max_tokens',
  context: 'model_context_window_exceeded',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
  content_filter: 'refusal',
  pause: 'pause_turn',
};

/** What a model says when it refuses stands in a text, so that clients show it, and once. */
const REFUSED = { type: 'refusal', category: null, explanation: null };

export function wireEnding(reason: StopReason, sequence: string | undefined): TreeObject {
  const stop_reason = STOP_REASONS[reason];
  return {
    stop_reason,
    stop_sequence: sequence ?? null,
    stop_details: stop_reason === 'refusal' ? REFUSED : null,
  };
}

/**
 * Tokens as this protocol counts them: what went through a cache stands apart from `input_tokens`, and passes stand
 * beside the totals. A cache of 12 hours has no member here; it counts as the longest that has.
 */
export function wireUsage(usage: TokenUsage = NO_TOKENS): TreeObject {
  const { reasoning, toolUses, speed, geo, servedBy, passes } = usage;
  const searches = toolUses?.['web_search'];
  const own = servedBy === undefined ? { type: 'message', model: null } : { type: 'fallback_message', model: servedBy };
  return {
    ...wireTokens(usage),
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(searches !== undefined && { server_tool_use: { web_search_requests: searches } }),
    ...(speed !== undefined && { speed }),
    ...(geo !== undefined && { inference_geo: geo }),
    ...(passes !== undefined && { iterations: [...passes.map(wirePass), { ...own, ...wireTokens(usage) }] }),
  };
}

function wireTokens(usage: TokenUsage): TreeObject {
  const { input, cacheRead, cacheWrite, output } = usage;
  const written = cacheWrites(usage);
  return {
    input_tokens: Math.max(0, input - cacheRead - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: written - cacheWrite },
    output_tokens: output,
  };
}

/** A pass of the call's own model is a compaction, one of another model an advisor's. */
const wirePass = ({ model, usage }: UsagePass): TreeObject =>
  model === undefined
    ? { type: 'compaction', ...wireTokens(usage) }
    : { type: 'advisor_message', model, ...wireTokens(usage) };

/** An answer, empty yet when it is streamed. */
export const wireMessage = (
  id: string,
  model: string,
  content: readonly TreeObject[],
  ending: TreeObject,
  usage: TreeObject,
): TreeObject => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content,
  ...ending,
  container: null,
  usage,
});

/** The same before an answer has ended. */
export const NO_ENDING: TreeObject = { stop_reason: null, stop_sequence: null, stop_details: null };
