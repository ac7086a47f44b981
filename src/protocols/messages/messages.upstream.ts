import { Injectable } from '@nestjs/common';
import {
  classifyUpstream,
  jsonInterests,
  commonEdits,
  outputIn,
  readAnswerFields,
  smallestRequest,
  SplicedBody,
  type BuildContext,
  type Call,
  type CallContent,
  type CallResult,
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
import { AppError } from '../../shared/index.js';
import { buildMessagesRequest } from './messages.build.js';
import { decodeMessagesResponse, MessagesDecoder } from './messages.decoder.js';
import { unaffordableThinking } from './messages.errors.js';
import { MESSAGES, THINKING_BUDGET, thinkingBudget } from './messages.head.js';
import { MessagesMeter, TEXTS } from './messages.meter.js';
import { surroundingsOf } from './messages.surroundings.js';
import { MESSAGES_TEXTS, messagesTextsIn } from './messages.texts.js';
import { MessagesUsage } from './messages.usage.js';
import { USUAL_VERSION } from './messages.version.js';

const ANSWER = jsonInterests('usage', 'error');

/** Anthropic's Messages, as its servers speak it. */
@Injectable()
@Upstream()
export class MessagesUpstream implements UpstreamAdapter {
  readonly id = MESSAGES;
  readonly usualAuth = 'x-api-key';
  readonly textPlaces = MESSAGES_TEXTS;

  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    return {
      path: '/messages',
      ...surroundingsOf(call),
      body: new SplicedBody(call.body, [...commonEdits(call, target), ...limitEdits(call, target)]),
    };
  }

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildMessagesRequest(context, target);
  }

  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
    return decodeMessagesResponse(body, content, target);
  }

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new MessagesDecoder(content, target);
  }

  smallestRequest(model: string): UpstreamRequest {
    const body = { model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] };
    return smallestRequest('/messages', body, { 'anthropic-version': USUAL_VERSION });
  }

  meterStream(): StreamMeter {
    return new MessagesMeter();
  }

  meterResponse(_call: Call, body: Uint8Array): readonly CallSignal[] {
    const usage = new MessagesUsage().merge(readAnswerFields(body, ANSWER).object('usage'));
    return [usage === undefined ? outputIn(body, TEXTS) : { type: 'usage', usage }];
  }

  textsIn(event: SseEvent): readonly TextPiece[] {
    return messagesTextsIn(event);
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    return classifyUpstream(status, headers, body);
  }
}

/** @throws AppError insufficient_quota when thinking would use up all that can be paid, which no upstream accepts */
function limitEdits({ head }: Call, { outputLimit }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined || outputLimit >= (head.outputLimit ?? Infinity)) return [];
  const budget = thinkingBudget(head.fields);
  if (budget !== undefined && outputLimit <= budget) {
    throw unaffordableThinking(outputLimit, THINKING_BUDGET, budget);
  }
  return [head.fields.assign('max_tokens', String(outputLimit))];
}
