/** Responses decoded by an upstream half. */

import {
  type CallContent,
  type CallEvent,
  type CallResult,
  EventGrammar,
  SseSplitter,
  type StopReason,
} from '../../../src/protocols/contract/index.js';
import type { NeutralResponse } from '../../support/neutral-response.js';
import type { ResponseOptions } from '../../support/scripted-content.js';
import { encodeEvents, type ScriptedEvent } from '../../support/scripted-steps.js';
import { textsIn } from '../../support/stream-text.js';
import { resultOf } from '../../support/translations.js';
import { callContentOf } from '../call-content.js';
import { HELLO, USAGE } from '../examples.js';
import type { UpstreamHalf } from './half.js';
import { buildUpstreamRequest, targetOf } from './upstream-request.js';

/** Decodes a stream chunk by chunk. */
export class StreamReader {
  readonly events: CallEvent[] = [];
  private readonly splitter = new SseSplitter();
  private readonly grammar = new EventGrammar();
  private readonly decoder;

  constructor({ upstream, ...half }: UpstreamHalf, content: CallContent) {
    this.decoder = upstream.decodeStream(content, targetOf({ upstream, ...half }));
  }

  /** @throws Error when events violate the grammar */
  next(chunk: Uint8Array): void {
    for (const event of this.splitter.next(chunk)) this.take(this.decoder.next(event));
  }

  /** @throws AppError as the decoder does */
  end(): CallEvent[] {
    for (const event of this.splitter.end()) this.take(this.decoder.next(event));
    this.take(this.decoder.end());
    this.grammar.end();
    return this.events;
  }

  private take(decoded: readonly CallEvent[]): void {
    for (const event of decoded) this.grammar.next(event);
    this.events.push(...decoded);
  }
}

export function readChunks(
  half: UpstreamHalf,
  chunks: readonly Uint8Array[],
  content = callContentOf(HELLO),
): CallEvent[] {
  const reader = new StreamReader(half, content);
  for (const chunk of chunks) reader.next(chunk);
  return reader.end();
}

/** The vendor's stream for that content. */
export function streamOf(
  half: UpstreamHalf,
  response: ResponseOptions,
  content = callContentOf(HELLO),
): readonly ScriptedEvent[] {
  return half.vendor.events({ usage: USAGE, ...response }, buildUpstreamRequest(half, content).json);
}

/** Streamed and unstreamed. */
export const DELIVERIES: Readonly<
  Record<'streamed' | 'whole', (half: UpstreamHalf, response: ResponseOptions, content?: CallContent) => CallResult>
> = {
  streamed: (half, response, content) =>
    resultOf(readChunks(half, [encodeEvents(streamOf(half, response, content))], content)),
  whole(half, response, content = callContentOf(HELLO)) {
    const body = JSON.stringify(half.vendor.body({ usage: USAGE, ...response }));
    return half.upstream.decodeResponse(body, content, targetOf(half, { stream: false }));
  },
};

const STOPS: Readonly<Record<StopReason, NeutralResponse['stop']>> = {
  end: 'end',
  stop_sequence: 'end',
  pause: 'end',
  compaction: 'end',
  max_tokens: 'length',
  context: 'length',
  tool_calls: 'tools',
  content_filter: 'filter',
  refusal: 'refusal',
};

/** A response in the tests' terms. */
export function neutralResponseOf({ parts, stop, usage }: CallResult): NeutralResponse {
  const texts = (kind: 'text' | 'reasoning' | 'refusal'): string =>
    textsIn(parts.map((part) => (part.kind === kind ? part.text : undefined)));
  return {
    text: texts('text'),
    reasoning: texts('reasoning'),
    refusal: texts('refusal'),
    calls: parts.flatMap((part) => (part.kind === 'tool-call' ? [`${part.id} ${part.name} ${part.arguments}`] : [])),
    stop: STOPS[stop],
    usage: {
      prompt: usage?.input ?? 0,
      cacheRead: usage?.cacheRead ?? 0,
      completion: usage?.output ?? 0,
      reasoning: usage?.reasoning ?? 0,
    },
  };
}
