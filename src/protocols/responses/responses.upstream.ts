import { Injectable } from '@nestjs/common';
import {
  classifyInnerError,
  classifyUpstream,
  jsonInterests,
  latin1,
  MemberFinder,
  commonEdits,
  outputIn,
  readAnswerFields,
  smallestRequest,
  SplicedBody,
  upstreamHeaders,
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
import type { AppError } from '../../shared/index.js';
import { buildRequest } from './responses.build.js';
import { decodeResponse, ResponsesDecoder } from './responses.decoder.js';
import { FORWARDED_HEADERS, MIN_OUTPUT_TOKENS, OUTPUT_LIMIT, RESPONSES } from './responses.head.js';
import { ResponsesMeter } from './responses.meter.js';
import { RESPONSES_TEXTS, responsesTextsIn } from './responses.texts.js';
import { toolUsesIn } from './responses.tools.js';
import { usageMembers, usageOf } from './responses.usage.js';

const ANSWER = jsonInterests(...usageMembers(''), 'status', 'error');
/** Members whose strings are the answer. */
const TEXTS = new MemberFinder('text', 'refusal', 'arguments', 'input');

/** OpenAI's Responses, as its servers speak it. */
@Injectable()
@Upstream()
export class ResponsesUpstream implements UpstreamAdapter {
  readonly id = RESPONSES;
  readonly usualAuth = 'bearer';
  readonly textPlaces = RESPONSES_TEXTS;

  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    return {
      path: '/responses',
      query: '',
      headers: upstreamHeaders(call, ...FORWARDED_HEADERS),
      body: new SplicedBody(call.body, [
        ...commonEdits(call, target),
        ...limitEdits(call, target),
        ...storeEdits(call, target),
      ]),
    };
  }

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildRequest(context, target);
  }

  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
    return decodeResponse(body, content, target);
  }

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new ResponsesDecoder(content, target);
  }

  smallestRequest(model: string): UpstreamRequest {
    return smallestRequest('/responses', { model, input: 'Hi', max_output_tokens: MIN_OUTPUT_TOKENS, store: false });
  }

  meterStream(): StreamMeter {
    return new ResponsesMeter();
  }

  meterResponse(_call: Call, body: Uint8Array): readonly CallSignal[] {
    const fields = readAnswerFields(body, ANSWER);
    if (fields.value('status') === 'failed') throw classifyInnerError({});
    const usage = usageOf(fields, '', toolUsesIn(latin1(body), fields, 'output'));
    return [usage === undefined ? outputIn(body, TEXTS) : { type: 'usage', usage }];
  }

  textsIn(event: SseEvent): readonly TextPiece[] {
    return responsesTextsIn(event);
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    return classifyUpstream(status, headers, body);
  }
}

function limitEdits({ head }: Call, { outputLimit }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined || outputLimit >= (head.outputLimit ?? Infinity)) return [];
  return [head.fields.assign(OUTPUT_LIMIT, String(Math.max(MIN_OUTPUT_TOKENS, outputLimit)))];
}

/** A vendor that is not told to forget an answer keeps it. */
const storeEdits = ({ head }: Call, { mayStore }: UpstreamTarget): readonly JsonEdit[] =>
  mayStore || head.store === false ? [] : [head.fields.assign('store', 'false')];
