/** Requests built by an upstream half. */

import type { JsonObject } from '../../../src/platform/shared/index.js';
import {
  type Call,
  type CallContent,
  jsonInterests,
  readJsonFields,
  TranslationWarnings,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../../../src/protocols/contract/index.js';
import { FAMILY } from '../../support/arbitrary-responses.js';
import { type NeutralRequest, neutralRequestOf } from '../../support/neutral-request.js';
import { aRequestLine, aTarget } from '../../support/calls.js';
import { callContentOf } from '../call-content.js';
import type { UpstreamHalf } from './half.js';

export interface SentRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes and their JSON. */
  readonly body: Buffer;
  readonly json: JsonObject;
  readonly stopsSent: number | undefined;
  /** Undefined without warnings. */
  readonly warnings: string | undefined;
}

/** A model with all capabilities of the protocol. */
export const targetOf = ({ vendor }: UpstreamHalf, more: Partial<UpstreamTarget> = {}): UpstreamTarget =>
  aTarget({ model: 'vendor-model', flags: vendor.flags, maxOutputTokens: 64_000, family: FAMILY, ...more });

export function buildUpstreamRequest(
  half: UpstreamHalf,
  content: CallContent,
  more: Partial<UpstreamTarget> = {},
): SentRequest {
  const target = targetOf(half, more);
  const warnings = new TranslationWarnings(false);
  const request = half.upstream.buildRequest({ call: callFor(target.stream), content, warnings }, target);
  return { ...sentRequestOf(request), warnings: warnings.header };
}

/** A request as received by the upstream. */
export function sentRequestOf(request: UpstreamRequest): Omit<SentRequest, 'warnings'> {
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

/** What the vendor's double reads; it must accept the request. */
export function receivedRequest(
  half: UpstreamHalf,
  requested: NeutralRequest,
  more: Partial<UpstreamTarget> = {},
): NeutralRequest {
  const { json } = buildUpstreamRequest(half, callContentOf(requested), more);
  half.vendor.expectRequest(json);
  return neutralRequestOf(half.vendor, json);
}

/** Expects an exact arrival without warnings. */
export function expectArrival(half: UpstreamHalf, requested: NeutralRequest): void {
  expect(buildUpstreamRequest(half, callContentOf(requested)).warnings).toBeUndefined();
  expect(receivedRequest(half, requested)).toEqual(
    requested.tools === undefined ? requested : { toolChoice: 'auto', ...requested },
  );
}

/** A call without protocol: adapters must only use its content. */
function callFor(stream: boolean): Call {
  const bytes = Buffer.from('{}');
  const fields = readJsonFields(bytes, jsonInterests());
  const head = { model: 'm', stream, outputLimit: undefined, choices: 1, effort: undefined, size: fields.size, fields };
  const request = aRequestLine({ method: 'POST', path: '/v1/kit' });
  return {
    id: `req_${'0'.repeat(32)}`,
    createdAt: 0,
    protocol: 'kit',
    request,
    transport: 'http',
    ip: '::1',
    head,
    body: { bytes },
  };
}
