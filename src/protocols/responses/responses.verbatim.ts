import {
  type Call,
  type CallSignal,
  classifyInnerError,
  commonEdits,
  createdIn,
  type JsonEdit,
  jsonInterests,
  latin1,
  MemberFinder,
  readResponseFields,
  SplicedBody,
  type StreamMeter,
  type UpstreamRequest,
  type UpstreamTarget,
  upstreamHeaders,
  usageSignals,
  type VerbatimLane,
} from '../contract/index.js';
import { FORWARDED_HEADERS, MIN_OUTPUT_TOKENS, OUTPUT_LIMIT } from './responses.head.js';
import { ResponsesMeter } from './responses.meter.js';
import { stateOfResponse } from './responses.state.js';
import { toolUsesIn } from './responses.tools.js';
import { usageMembers, usageOf } from './responses.usage.js';

const ANSWER = jsonInterests(...usageMembers(''), 'status', 'error');
/** Members whose strings are the answer. */
const TEXTS = new MemberFinder('text', 'refusal', 'name', 'arguments', 'input');

/** OpenAI's Responses for its own clients. */
export class ResponsesVerbatim implements VerbatimLane {
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

  meterStream(call: Call): StreamMeter {
    return new ResponsesMeter(call);
  }

  meterResponse({ head }: Call, body: Uint8Array): readonly CallSignal[] {
    const fields = readResponseFields(body, ANSWER);
    if (fields.value('status') === 'failed') throw classifyInnerError({});
    const usage = usageOf(head, fields, '', toolUsesIn(latin1(body), fields, 'output'));
    return [...usageSignals(usage, body, TEXTS), ...createdIn(head, body, stateOfResponse)];
  }
}

function limitEdits({ head }: Call, { outputLimit }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined || outputLimit >= (head.outputLimit ?? Infinity)) return [];
  return [head.fields.assign(OUTPUT_LIMIT, String(Math.max(MIN_OUTPUT_TOKENS, outputLimit)))];
}

/** A vendor that is not told to forget an answer keeps it. */
const storeEdits = ({ head }: Call, { mayStore }: UpstreamTarget): readonly JsonEdit[] =>
  mayStore || head.store === false ? [] : [head.fields.assign('store', 'false')];
