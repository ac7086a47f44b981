/** What every response to a request that nobody means has in common. */

import type { ProtocolEndpoint, JsonObject } from '../scripted-upstream.js';
import type { FuzzedRequest } from './fuzzed-requests.js';
import { MEMBERS } from './spoiled-bodies.js';

export interface FuzzResponse {
  readonly response: Response;
  readonly text: string;
  /** From the first byte sent to the last one received. */
  readonly ms: number;
}

const REQUEST_ID = /\(request id: req_[0-9a-f]{32}\)$/;
/** What no error may show: where the program lies, and what it is made of. */
const INSIDES = /node_modules|\bat [\w.]+ \(|\/src\/|\/dist\/|SELECT |QueryFailed|TypeError|RangeError|SyntaxError/;

/** Whatever is wrong is not ours. */
export function expectNoFailure({ response, text }: FuzzResponse): void {
  expect([response.status < 500, response.status, text.slice(0, 500)]).toEqual([
    true,
    response.status,
    text.slice(0, 500),
  ]);
}

/** In the form of whoever asked. */
export function expectWorded(request: FuzzedRequest, { response, text }: FuzzResponse): void {
  if (response.status < 400) return;
  expect(text).not.toMatch(INSIDES);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  if (request.method === 'HEAD' || request.shape === 'page' || (request.shape === 'any protocol' && !isJson)) return;
  const body = JSON.parse(text) as JsonObject;
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  const protocol =
    request.shape === 'any protocol' ? (body['type'] === 'error' ? 'messages' : 'responses') : request.shape;
  expectError(protocol, body, response.status);
  if (response.status === 400 && protocol === request.shape)
    expectNamed(protocol, body['error'] as JsonObject, request);
}

function expectError(protocol: ProtocolEndpoint, body: JsonObject, status: number): void {
  const { error } = body as { readonly error: JsonObject };
  expect(error['message']).toMatch(REQUEST_ID);
  expect(error['type']).toEqual(expect.any(String));
  if (protocol === 'messages') {
    expect(body).toMatchObject({ type: 'error', request_id: expect.stringMatching(/^req_/) as string });
    return;
  }
  expect(Object.keys(error).toSorted()).toEqual(['code', 'message', 'param', 'type']);
  if (status === 400) expect(error['type']).not.toBe('server_error');
}

/** Of the body as a whole, or of a header: there is no field to name. */
const NOT_OF_A_FIELD = /^The (?:request body|Idempotency-Key) /;

/** A body that is an object of JSON is only refused for one of its fields, which is named. */
function expectNamed(protocol: ProtocolEndpoint, error: JsonObject, { body, headers }: FuzzedRequest): void {
  const message = String(error['message']);
  if (NOT_OF_A_FIELD.test(message) || !isObject(body) || headers.includes('content-encoding')) return;
  const names = MEMBERS[protocol].filter((name) => new RegExp(String.raw`\b${name}\b`).test(message));
  if (protocol === 'messages') expect([message, names]).not.toEqual([message, []]);
  else expect([error['param'], message]).toEqual([expect.any(String), message]);
}

function isObject(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
