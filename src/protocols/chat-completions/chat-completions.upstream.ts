import { Injectable } from '@nestjs/common';
import {
  type BuildContext,
  type CallContent,
  type CallResult,
  classifyUpstream,
  jsonInterests,
  latin1,
  commonEdits,
  outputIn,
  readAnswerFields,
  smallestRequest,
  SplicedBody,
  upstreamHeaders,
  type Call,
  type CallSignal,
  type JsonEdit,
  type SseEvent,
  type StreamDecoder,
  type StreamMeter,
  type TextPiece,
  type UpstreamAdapter,
  type UpstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../../call/index.js';
import { Upstream } from '../../relay/index.js';
import type { AppError } from '../../shared/index.js';
import { buildChatRequest, PATH } from './chat-completions.build.js';
import { ChatDecoder, decodeChatResponse } from './chat-completions.decoder.js';
import { limitName } from './chat-completions.flags.js';
import {
  CHAT_COMPLETIONS,
  FORWARDED_HEADERS,
  INCLUDE_USAGE,
  OUTPUT_LIMITS,
  WEB_SEARCH,
} from './chat-completions.head.js';
import { ChatCompletionsMeter, TEXTS } from './chat-completions.meter.js';
import { CHAT_TEXTS, chatTextsIn } from './chat-completions.texts.js';
import { chatUsageBeside, cites } from './chat-completions.usage.js';

const ANSWER = jsonInterests('usage', 'service_tier', 'error');

/** OpenAI's Chat Completions, as its many servers speak it. */
@Injectable()
@Upstream()
export class ChatCompletionsUpstream implements UpstreamAdapter {
  readonly id = CHAT_COMPLETIONS;
  readonly usualAuth = 'bearer';
  readonly textPlaces = CHAT_TEXTS;

  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    const edits = [...commonEdits(call, target), ...usageEdits(call, target), ...limitEdits(call, target)];
    return {
      path: PATH,
      query: '',
      headers: upstreamHeaders(call, ...FORWARDED_HEADERS),
      body: new SplicedBody(call.body, edits),
    };
  }

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildChatRequest(context, target);
  }

  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
    return decodeChatResponse(body, content, target);
  }

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new ChatDecoder(content, target);
  }

  smallestRequest(model: string): UpstreamRequest {
    return smallestRequest(PATH, { model, messages: [{ role: 'user', content: 'Hi' }] });
  }

  meterStream(call: Call): StreamMeter {
    return new ChatCompletionsMeter(call);
  }

  meterResponse({ head }: Call, body: Uint8Array): readonly CallSignal[] {
    const fields = readAnswerFields(body, ANSWER);
    const searched = head.fields.has(WEB_SEARCH) && cites(latin1(body));
    const usage = chatUsageBeside(fields.object('usage'), { serviceTier: fields.value('service_tier'), searched });
    return [usage === undefined ? outputIn(body, TEXTS) : { type: 'usage', usage }];
  }

  textsIn(event: SseEvent): readonly TextPiece[] {
    return chatTextsIn(event);
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    return classifyUpstream(status, headers, body);
  }
}

/** A stream reports its usage only when asked to. What the client did not ask for is hidden on the way back. */
function usageEdits({ head: { stream, fields } }: Call, target: UpstreamTarget): readonly JsonEdit[] {
  if (!stream || target.flags['includeUsage'] === false) return [];
  const options = fields.field('stream_options');
  if (options?.kind === 'object') {
    return fields.isTrue(INCLUDE_USAGE) ? [] : [fields.assign(INCLUDE_USAGE, 'true')];
  }
  // Anything else than null is the upstream's to refuse.
  if (options !== undefined && options.kind !== 'null') return [];
  return [fields.assign('stream_options', '{"include_usage":true}')];
}

/** Lowers the limits that the client set; sets one, under the name that this upstream knows, when it set none. */
function limitEdits({ head: { fields } }: Call, { outputLimit, flags }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined) return [];
  const given = OUTPUT_LIMITS.filter((name) => fields.has(name));
  if (given.length === 0) {
    return [fields.assign(limitName(flags), String(outputLimit))];
  }
  return given
    .filter((name) => Number(fields.value(name)) > outputLimit)
    .map((name) => fields.assign(name, String(outputLimit)));
}
