import {
  type Call,
  type CallSignal,
  commonEdits,
  createdIn,
  type JsonEdit,
  jsonInterests,
  readResponseFields,
  SplicedBody,
  type StreamMeter,
  type UpstreamRequest,
  type UpstreamTarget,
  usageSignals,
  type VerbatimLane,
} from '../contract/index.js';
import { unaffordableThinking } from './messages.errors.js';
import { THINKING_BUDGET, thinkingBudget } from './messages.head.js';
import { MessagesMeter, TEXTS } from './messages.meter.js';
import { stateOfMessage } from './messages.state.js';
import { requestContext } from './messages.request-context.js';
import { MessagesUsage } from './messages.usage.js';

const ANSWER = jsonInterests('usage', 'error');

/** Anthropic's Messages for its own clients. */
export class MessagesVerbatim implements VerbatimLane {
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    return {
      path: '/messages',
      ...requestContext(call),
      body: new SplicedBody(call.body, [...commonEdits(call, target), ...limitEdits(call, target)]),
    };
  }

  meterStream(call: Call): StreamMeter {
    return new MessagesMeter(call);
  }

  meterResponse({ head }: Call, body: Uint8Array): readonly CallSignal[] {
    const usage = new MessagesUsage().merge(readResponseFields(body, ANSWER).object('usage'));
    const created = createdIn(head, body, (message) => stateOfMessage(head, message));
    return [...usageSignals(usage, body, TEXTS), ...created];
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
