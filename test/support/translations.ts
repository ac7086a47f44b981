/** What the specs of the translated lane are built from: contents, requests built of them, events, answers written. */

import {
  type BuildContext,
  type CallContent,
  type CallEvent,
  type CallResult,
  EventGrammar,
  isTreeObject,
  TranslationWarnings,
  parseJsonTree,
  type OpaqueReasoning,
  type ProtocolAdapter,
  type RenderContext,
  ResultCollector,
  SseSplitter,
  type StreamDecoder,
  type TreeObject,
  type UpstreamAdapter,
  type UpstreamTarget,
} from '../../src/protocols/contract/index.js';
import { aCall, aTarget } from './calls.js';

/** What a client asks for that says only "Hello". */
export const aContent = (overrides: Partial<CallContent> = {}): CallContent => ({
  lead: [],
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelTools: undefined,
  outputLimit: undefined,
  stop: [],
  sampling: {},
  reasoning: { show: 'text' },
  format: { kind: 'text' },
  verbosity: undefined,
  endUser: undefined,
  cacheKey: undefined,
  serviceTier: undefined,
  ...overrides,
});

/** Reasoning is closed by these as the relay does, but for everybody to read. */
const seal = ({ kind, family, data, text }: OpaqueReasoning): string =>
  `rly1.${JSON.stringify([kind, family, data, text])}`;

function unseal(text: string): OpaqueReasoning | undefined {
  if (!text.startsWith('rly1.')) return undefined;
  const [kind, family, data, shown] = JSON.parse(text.slice('rly1.'.length)) as [
    OpaqueReasoning['kind'],
    string,
    string,
    string,
  ];
  return { kind, family, data, text: shown };
}

/** A request, as it came or to be written as JSON, parsed as the engine does. */
export function treeOf(protocol: ProtocolAdapter, body: string | object): TreeObject {
  const tree = parseJsonTree(typeof body === 'string' ? body : JSON.stringify(body), protocol.rawMembers);
  if (!isTreeObject(tree)) throw new Error('The request is no object.');
  return tree;
}

/** What a request asks for. */
export function contentOf(
  protocol: ProtocolAdapter,
  body: string | object,
  warnings = new TranslationWarnings(false),
): CallContent {
  return protocol.parseRequest(treeOf(protocol, body), { call: aCall(protocol, body), warnings, unseal });
}

export function aRenderContext(protocol: ProtocolAdapter, body: object, prompt = 1): RenderContext {
  const promptTokens = (): number => prompt;
  const call = aCall(protocol, body, { createdAt: 1999 });
  return {
    call,
    request: treeOf(protocol, body),
    content: contentOf(protocol, body),
    warnings: new TranslationWarnings(false),
    promptTokens,
    seal,
  };
}

export interface Built {
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly stopsSent: number | undefined;
  readonly warnings: string | undefined;
}

/** The request that an upstream is sent for a content. */
export function built(
  upstream: UpstreamAdapter,
  { call, content }: Pick<BuildContext, 'call' | 'content'>,
  target: Partial<UpstreamTarget> = {},
  warnings = new TranslationWarnings(false),
): Built {
  const request = upstream.buildRequest({ call, content, warnings }, aTarget(target));
  const text = Buffer.concat(request.body.pieces()).toString();
  const body = JSON.parse(text) as Built['body'];
  return { body, text, headers: request.headers, stopsSent: request.stopSequencesSent, warnings: warnings.header };
}

/** The events of a stream, checked against their grammar. @throws AppError as the decoder does */
export function decoded(decoder: StreamDecoder, stream: string): CallEvent[] {
  const splitter = new SseSplitter();
  const events = [...splitter.next(Buffer.from(stream)), ...splitter.end()].flatMap((event) => decoder.next(event));
  return checked([...events, ...decoder.end()]);
}

/** The same events, if they obey their grammar. */
export function checked(events: readonly CallEvent[]): CallEvent[] {
  const grammar = new EventGrammar();
  for (const event of events) grammar.next(event);
  grammar.end();
  return [...events];
}

export function resultOf(events: readonly CallEvent[]): CallResult {
  const collector = new ResultCollector();
  for (const event of events) collector.next(event);
  return collector.result;
}
