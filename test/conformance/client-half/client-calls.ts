/** Requests parsed and responses rendered by a client half. */

import {
  type CallContent,
  type CallEvent,
  type CallHead,
  type CallResult,
  eventsOf,
  isTreeObject,
  malformed,
  parseJsonTree,
  type RenderContext,
  type RequestLine,
  type StopReason,
  TranslationWarnings,
  type TreeObject,
} from '../../../src/protocols/contract/index.js';
import type { NeutralRequest } from '../../support/neutral-request.js';
import { aCall, aRequestLine } from '../../support/calls.js';
import type { NeutralResponse } from '../../support/neutral-response.js';
import { type ResponseOptions, fillContent, type ScriptedStop } from '../../support/scripted-content.js';
import type { JsonObject } from '../../support/scripted-steps.js';
import { HELLO, USAGE } from '../examples.js';
import { seal, unseal } from '../seals.js';
import type { ClientHalf } from './half.js';

/** 2026-01-02T03:04:05.678Z */
const CREATED_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A body for the model `m`. */
export const bodyOf = (
  { client }: ClientHalf,
  requested: NeutralRequest,
  stream = false,
  more: JsonObject = {},
): string =>
  JSON.stringify({
    ...(client.address === undefined && { model: 'm' }),
    ...client.request(requested, stream),
    ...more,
  });

/** @param stream matters only if the URL says so */
export const lineOf = ({ client }: Pick<ClientHalf, 'client'>, stream = true): RequestLine =>
  aRequestLine({ method: 'POST', ...(client.address?.('m', stream) ?? { path: client.path }) });

/** @throws AppError as the adapter does */
export const headOf = (half: ClientHalf, body: string, stream = true): CallHead =>
  half.protocol.headReader(lineOf(half, stream)).end({ bytes: Buffer.from(body) });

/** @throws AppError as the adapter does */
export const contentOf = (half: ClientHalf, body: string): CallContent => contextOf(half, body).content;

/** Context for rendering the response to a request. */
export function contextOf(half: ClientHalf, body: string): RenderContext {
  const { protocol } = half;
  const call = aCall(protocol, body, { id: `req_${'0'.repeat(32)}`, createdAt: CREATED_AT, ...lineOf(half) });
  const request = treeOf(half, body);
  const warnings = new TranslationWarnings(false);
  const content = protocol.parseRequest(request, { call, warnings, unseal });
  return { call, request, content, warnings, promptTokens: () => 9, seal };
}

function treeOf({ protocol }: ClientHalf, body: string): TreeObject {
  const tree = parseJsonTree(body, protocol.rawMembers);
  if (!isTreeObject(tree)) throw malformed('', 'is no object');
  return tree;
}

/** Streamed and unstreamed: what is rendered and what the client reads. */
export const DELIVERIES: Readonly<Record<'streamed' | 'whole', Delivery>> = {
  streamed: {
    stream: true,
    write: (half, response, body) => written(half, [...eventsOf(response)].flatMap(inPieces), body).join(''),
    hear: ({ client }, text) => client.readStream(text),
  },
  whole: {
    stream: false,
    write: (half, response, body) => half.protocol.renderResponse(response, contextOf(half, body)),
    hear: ({ client }, text) => client.readResponse(JSON.parse(text) as JsonObject),
  },
};

interface Delivery {
  readonly stream: boolean;
  readonly write: (half: ClientHalf, response: CallResult, body: string) => string;
  readonly hear: (half: ClientHalf, text: string) => NeutralResponse;
}

/** The output of each event. */
export function written(half: ClientHalf, events: readonly CallEvent[], body = bodyOf(half, HELLO, true)): string[] {
  const renderer = half.protocol.renderStream(contextOf(half, body));
  return events.map((event) => renderer.next(event));
}

const PIECE_LENGTH = 3;

/** Upstreams may split the UTF-16 surrogates of a character. */
function inPieces(event: CallEvent): CallEvent[] {
  if (event.type !== 'part-delta') return [event];
  const count = Math.ceil(event.text.length / PIECE_LENGTH);
  return Array.from({ length: count }, (_, index) => ({
    type: 'part-delta',
    text: event.text.slice(index * PIECE_LENGTH, (index + 1) * PIECE_LENGTH),
  }));
}

const STOPS: Readonly<Record<ScriptedStop, StopReason>> = {
  end: 'end',
  length: 'max_tokens',
  tools: 'tool_calls',
  filter: 'content_filter',
};

/** A response without signed reasoning. */
export function responseSaying(options: ResponseOptions): CallResult {
  const { text, reasoning, toolCalls, usage, stop } = fillContent({
    ...options,
    usage: { ...USAGE, ...options.usage },
  });
  return {
    parts: [
      ...(reasoning.length > 0 ? [{ kind: 'reasoning', text: reasoning.join('') } as const] : []),
      ...(text.length > 0 ? [{ kind: 'text', text: text.join('') } as const] : []),
      ...toolCalls.map(
        ({ id, name, arguments: json }) => ({ kind: 'tool-call', id, name, arguments: json.join('') }) as const,
      ),
    ],
    stop: STOPS[stop],
    usage: {
      input: usage.prompt,
      cacheRead: usage.cacheRead,
      cacheWrite: usage.cacheWrite,
      cacheWrite1h: 0,
      output: usage.completion,
      reasoning: usage.reasoning,
    },
  };
}
