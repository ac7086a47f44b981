import type { StopReason } from '../contract/index.js';

/** Why an answer ended, in this dialect's words. */
export const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  stop_sequence: 'stop',
  refusal: 'stop',
  pause: 'stop',
  max_tokens: 'length',
  context: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

/** What was seen of an answer when its end is told. */
interface Seen {
  readonly hasCalls: boolean;
  readonly hasRefused: boolean;
}

/** The same from an upstream, of which many say `stop` whatever happened. */
export function stopReason(finish: string, { hasCalls, hasRefused }: Seen): StopReason {
  if (finish === 'length') return 'max_tokens';
  if (finish === 'content_filter') return 'content_filter';
  if (hasCalls) return 'tool_calls';
  return hasRefused ? 'refusal' : 'end';
}
