import {
  type ResponsePart,
  type CallResult,
  NO_TOKENS,
  type RenderContext,
  type TextPart,
  type ToolCallPart,
} from '../contract/index.js';
import type { JsonObject } from '../../platform/shared/index.js';
import { responseHead, annotationOf, finishReason } from './chat-completions.response-members.js';
import { isLegacy } from './chat-completions.requested-tools.js';
import { renderUsage } from './chat-completions.usage.js';

/** A whole answer, as JSON text. */
export function renderChatResponse({ parts, stop, usage }: CallResult, context: RenderContext): string {
  const message = messageOf(parts, context);
  const finish_reason = finishReason(stop, context);
  return JSON.stringify({
    ...responseHead(context.call, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: renderUsage(usage ?? NO_TOKENS),
  });
}

function messageOf(parts: readonly ResponsePart[], { request, content }: RenderContext): JsonObject {
  const texts = parts.filter((part) => part.kind === 'text');
  const calls = parts.filter((part) => part.kind === 'tool-call');
  const refusal = textOf(parts, 'refusal');
  const reasoning = content.reasoning.show === 'text' ? textOf(parts, 'reasoning') : '';
  const isSilent = texts.length === 0 && (calls.length > 0 || refusal !== '');
  return {
    role: 'assistant',
    content: isSilent ? null : textOf(texts, 'text'),
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...annotationsOf(texts),
    ...(isLegacy(request) ? legacyCall(calls) : toolCalls(calls)),
  };
}

const textOf = (parts: readonly ResponsePart[], kind: 'text' | 'refusal' | 'reasoning'): string =>
  parts.map((part) => (part.kind === kind ? part.text : '')).join('');

function annotationsOf(texts: readonly TextPart[]): JsonObject {
  const annotations = texts.flatMap((text) => text.annotations ?? []).map(annotationOf);
  return annotations.length === 0 ? {} : { annotations };
}

/** Some clients take an empty list for a list. */
function toolCalls(calls: readonly ToolCallPart[]): JsonObject {
  if (calls.length === 0) return {};
  return {
    tool_calls: calls.map(({ id, name, arguments: text, isFreeform }) =>
      isFreeform === true
        ? { id, type: 'custom', custom: { name, input: text } }
        : { id, type: 'function', function: { name, arguments: text } },
    ),
  };
}

/** The legacy form has room for one. */
function legacyCall([call]: readonly ToolCallPart[]): JsonObject {
  return call === undefined ? {} : { function_call: { name: call.name, arguments: call.arguments } };
}
