import {
  type Call,
  type CallSignal,
  commonEdits,
  type JsonEdit,
  jsonInterests,
  latin1,
  readResponseFields,
  servedByIn,
  SplicedBody,
  type StreamMeter,
  type UpstreamRequest,
  type UpstreamTarget,
  upstreamHeaders,
  usageSignals,
  type VerbatimLane,
} from '../contract/index.js';
import { PATH } from './chat-completions.build.js';
import { limitName } from './chat-completions.flags.js';
import { FORWARDED_HEADERS, INCLUDE_USAGE, OUTPUT_LIMITS, WEB_SEARCH } from './chat-completions.head.js';
import { ChatCompletionsMeter, TEXTS } from './chat-completions.meter.js';
import { chatUsageBeside, cites } from './chat-completions.usage.js';

const ANSWER = jsonInterests('usage', 'service_tier', 'model', 'error');

/** OpenAI's Chat Completions for its own clients. */
export class ChatCompletionsVerbatim implements VerbatimLane {
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    const edits = [...commonEdits(call, target), ...usageEdits(call, target), ...limitEdits(call, target)];
    return {
      path: PATH,
      query: '',
      headers: upstreamHeaders(call, ...FORWARDED_HEADERS),
      body: new SplicedBody(call.body, edits),
    };
  }

  meterStream(call: Call): StreamMeter {
    return new ChatCompletionsMeter(call);
  }

  meterResponse({ head }: Call, body: Uint8Array): readonly CallSignal[] {
    const fields = readResponseFields(body, ANSWER);
    const searched = head.fields.has(WEB_SEARCH) && cites(latin1(body));
    const usage = chatUsageBeside(fields.object('usage'), {
      serviceTier: fields.value('service_tier'),
      searched,
      ...servedByIn(head, fields.value('model')),
    });
    return usageSignals(usage, body, TEXTS);
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
