/** Both directions of one protocol on plain values. */

import {
  type Call,
  type CallContent,
  type CallEvent,
  type CallResult,
  EventGrammar,
  isTreeObject,
  malformed,
  parseJsonTree,
  type RenderContext,
  ResultCollector,
  SseSplitter,
  TranslationWarnings,
  type TreeObject,
  type UpstreamTarget,
} from '../../../src/protocols/contract/index.js';
import { FAMILY } from '../../support/arbitrary-responses.js';
import { aCall, aTarget } from '../../support/calls.js';
import { lineOf } from '../client-half/client-calls.js';
import { seal, unseal } from '../seals.js';
import type { ProtocolUnderTest } from './protocol-under-test.js';

/** 2026-01-02T03:04:05.678Z */
const CREATED_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

export const target = ({ flags }: ProtocolUnderTest, stream = true): UpstreamTarget =>
  aTarget({ flags, stream, maxOutputTokens: 64_000, family: FAMILY });

/** @param open unseals reasoning */
export function parse(underTest: ProtocolUnderTest, body: string, open = unseal): CallContent {
  const { protocol } = underTest;
  const parseContext = { call: callOf(underTest, body), warnings: new TranslationWarnings(false), unseal: open };
  return protocol.parseRequest(treeOf(body, protocol.rawMembers), parseContext);
}

/** The body of the upstream request. */
export function build(underTest: ProtocolUnderTest, content: CallContent): string {
  const { call } = context(underTest, false);
  const { body } = underTest.upstream.buildRequest(
    { call, content, warnings: new TranslationWarnings(false) },
    target(underTest, false),
  );
  return Buffer.concat(body.pieces()).toString();
}

export function context(underTest: ProtocolUnderTest, stream: boolean): RenderContext {
  const body = JSON.stringify({ ...underTest.request, stream });
  const request = treeOf(body, underTest.protocol.rawMembers);
  return {
    call: callOf(underTest, body),
    request,
    content: parse(underTest, body),
    warnings: new TranslationWarnings(false),
    promptTokens: () => 9,
    seal,
  };
}

const callOf = (underTest: ProtocolUnderTest, body: string): Call =>
  aCall(underTest.protocol, body, { id: `req_${'0'.repeat(32)}`, createdAt: CREATED_AT, ...lineOf(underTest) });

export function render(underTest: ProtocolUnderTest, events: readonly CallEvent[]): string[] {
  const renderer = underTest.protocol.renderStream(context(underTest, true));
  return events.map((event) => renderer.next(event));
}

/** @throws Error when events violate the grammar */
export function decode(underTest: ProtocolUnderTest, chunks: Iterable<Uint8Array>): CallEvent[] {
  const splitter = new SseSplitter();
  const decoder = underTest.upstream.decodeStream(context(underTest, true).content, target(underTest));
  const grammar = new EventGrammar();
  const events: CallEvent[] = [];
  const take = (decoded: readonly CallEvent[]): void => {
    for (const event of decoded) grammar.next(event);
    events.push(...decoded);
  };
  for (const chunk of chunks) for (const event of splitter.next(chunk)) take(decoder.next(event));
  for (const event of splitter.end()) take(decoder.next(event));
  take(decoder.end());
  grammar.end();
  return events;
}

export function resultOf(events: readonly CallEvent[], underTest?: ProtocolUnderTest): CallResult {
  const collector = new ResultCollector();
  for (const event of events) collector.next(event);
  return opened(collector.result, underTest);
}

/** With unsealed reasoning, as sent back by a client. */
export function opened(result: CallResult, underTest?: ProtocolUnderTest): CallResult {
  const parts = result.parts.map((part) => {
    if (part.kind !== 'reasoning' || part.opaque === undefined) return part;
    const { data } = part.opaque;
    const opaque = unseal(underTest?.sealIn?.(data) ?? data);
    return opaque === undefined ? part : { ...part, opaque };
  });
  return { ...result, parts };
}

function treeOf(body: string, raw: ReadonlySet<string>): TreeObject {
  const tree = parseJsonTree(body, raw);
  if (!isTreeObject(tree)) throw malformed('', 'is no object');
  return tree;
}
