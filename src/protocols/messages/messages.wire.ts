import { NO_TOKENS, type StopReason, type TokenUsage, type TreeObject } from '../../call/index.js';

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

/** Tokens as this dialect counts them: what went through a cache stands apart from `input_tokens`. */
export function wireUsage(usage: TokenUsage = NO_TOKENS): TreeObject {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, toolUses } = usage;
  const searches = toolUses?.['web_search'];
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite - cacheWrite1h),
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: output,
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(searches !== undefined && { server_tool_use: { web_search_requests: searches } }),
  };
}

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
