/** What an upstream half sends for a content, on plain values. */

import {
  type Call,
  type CallContent,
  jsonInterests,
  TranslationWarnings,
  readJsonFields,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../../../src/protocols/contract/index.js';
import type { JsonObject } from '../../../src/platform/shared/index.js';
import { type Asked, askedOf } from '../../support/asked.js';
import { FAMILY } from '../../support/arbitrary-answers.js';
import { aRequestLine, aTarget } from '../../support/calls.js';
import { contentAsking } from '../asked-content.js';
import type { UpstreamHalf } from './half.js';

export interface Sent {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes, and what they say. */
  readonly body: Buffer;
  readonly json: JsonObject;
  readonly stopsSent: number | undefined;
  /** What of the content was told as lost; undefined when nothing was. */
  readonly warnings: string | undefined;
}

/** Where the calls of the kit go: to a model that can do everything which the dialect has words for. */
export const targetOf = ({ vendor }: UpstreamHalf, more: Partial<UpstreamTarget> = {}): UpstreamTarget =>
  aTarget({ model: 'vendor-model', flags: vendor.flags, maxOutputTokens: 64_000, family: FAMILY, ...more });

/** Builds the request for a content. */
export function send(half: UpstreamHalf, content: CallContent, more: Partial<UpstreamTarget> = {}): Sent {
  const target = targetOf(half, more);
  const warnings = new TranslationWarnings(false);
  const request = half.upstream.buildRequest({ call: callFor(target.stream), content, warnings }, target);
  return { ...sentAs(request), warnings: warnings.header };
}

/** A request as its upstream gets it. */
export function sentAs(request: UpstreamRequest): Omit<Sent, 'warnings'> {
  const body = Buffer.concat(request.body.pieces());
  return {
    path: request.path,
    query: new URLSearchParams(request.query),
    headers: request.headers,
    body,
    json: JSON.parse(body.toString()) as JsonObject,
    stopsSent: request.stopSequencesSent,
  };
}

/** What arrives of what is asked. The vendor itself has nothing against the request. */
export function arrives(half: UpstreamHalf, asked: Asked, more: Partial<UpstreamTarget> = {}): Asked {
  const { json } = send(half, contentAsking(asked), more);
  half.vendor.expectRequest(json);
  return askedOf(half.vendor, json);
}

/** That the very thing arrives which was asked, and nothing is told as lost. */
export function expectArrival(half: UpstreamHalf, asked: Asked): void {
  expect(send(half, contentAsking(asked)).warnings).toBeUndefined();
  expect(arrives(half, asked)).toEqual(asked.tools === undefined ? asked : { toolChoice: 'auto', ...asked });
}

/** A call of a client of no dialect: whatever an adapter may use of it is in the content. */
function callFor(stream: boolean): Call {
  const bytes = Buffer.from('{}');
  const fields = readJsonFields(bytes, jsonInterests());
  const head = { model: 'm', stream, outputLimit: undefined, choices: 1, effort: undefined, size: fields.size, fields };
  const request = aRequestLine({ method: 'POST', path: '/v1/kit' });
  return { id: `req_${'0'.repeat(32)}`, createdAt: 0, protocol: 'kit', request, ip: '::1', head, body: { bytes } };
}
