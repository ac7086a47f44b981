import {
  type Annotation,
  newResponseId,
  type Call,
  openAiErrorBody,
  type RenderContext,
  sseText,
  type StopReason,
} from '../contract/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
import { FINISH_REASONS } from './chat-completions.finish.js';
import { isLegacy } from './chat-completions.requested-tools.js';

// What whole answers and the chunks of a stream have in common.

/** By what an answer is known: the same in each of its chunks. */
export const responseHead = (call: Call, object: string): JsonObject => ({
  id: newResponseId(call, 'chatcmpl-'),
  object,
  created: Math.floor(call.createdAt / 1000),
  model: call.head.model,
});

/** Where a citation stands in the text is not known here; clients demand the members. */
export const annotationOf = ({ url, title }: Annotation): JsonObject => ({
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 0, url, title },
});

export function finishReason(stop: StopReason, { request, losses }: RenderContext): string {
  if (stop === 'pause') losses.warn('paused', 'finish_reason');
  return stop === 'tool_calls' && isLegacy(request) ? 'function_call' : FINISH_REASONS[stop];
}

/** One frame and no `[DONE]`: a client that overlooks the frame must still see an unfinished answer. */
export const streamFailure = (call: Call, error: AppError): string =>
  sseText(undefined, JSON.stringify({ error: openAiErrorBody(error, call.id) }));
