/** The table of errors in every protocol, and what every error of the API has in common. */

import type { ClientDouble } from '../conformance/client-double.js';
import type { RelayApp, StoredCall, TestCaller } from './relay-app.js';
import type { ProtocolEndpoint, JsonObject } from './scripted-upstream.js';

/** One row of the table: how each shape words a situation, and what the usage log calls it. */
export interface Situation {
  /** Responses and Chat Completions. */
  readonly openai: readonly [status: number, type: string, code: string | null];
  readonly messages: readonly [status: number, type: string];
  readonly reason: string;
}

const REQUEST = 'invalid_request_error';

export const INVALID_TOKEN: Situation = {
  openai: [401, REQUEST, 'invalid_api_key'],
  messages: [401, 'authentication_error'],
  reason: 'Invalid token',
};
export const NOT_ALLOWED: Situation = {
  openai: [403, 'permission_error', 'permission_denied'],
  messages: [403, 'permission_error'],
  reason: 'permission_denied',
};
export const INSUFFICIENT_QUOTA: Situation = {
  openai: [429, 'insufficient_quota', 'insufficient_quota'],
  messages: [402, 'billing_error'],
  reason: 'insufficient quota',
};
export const INVALID_REQUEST: Situation = {
  openai: [400, REQUEST, 'invalid_value'],
  messages: [400, REQUEST],
  reason: 'invalid_request',
};
export const MODEL_NOT_FOUND: Situation = {
  openai: [404, REQUEST, 'model_not_found'],
  messages: [404, 'not_found_error'],
  reason: 'model_not_found',
};
export const NOT_FOUND: Situation = {
  openai: [404, REQUEST, null],
  messages: [404, 'not_found_error'],
  reason: 'not_found',
};
/** The table has no row for these three: the type is that of a request at fault (§1.1). */
export const METHOD_NOT_ALLOWED: Situation = {
  openai: [405, REQUEST, null],
  messages: [405, REQUEST],
  reason: 'method_not_allowed',
};
export const NO_WEB_SOCKET: Situation = {
  openai: [426, REQUEST, null],
  messages: [426, REQUEST],
  reason: 'upgrade_required',
};
export const UNSUPPORTED_ENCODING: Situation = {
  openai: [415, REQUEST, null],
  messages: [415, REQUEST],
  reason: 'unsupported_media_type',
};
export const TOO_LONG: Situation = {
  openai: [400, REQUEST, 'context_length_exceeded'],
  messages: [400, REQUEST],
  reason: 'context_length_exceeded',
};
export const TOO_LARGE: Situation = {
  openai: [413, REQUEST, 'request_too_large'],
  messages: [413, 'request_too_large'],
  reason: 'request_too_large',
};
/** The table has no row for a body that does not arrive: it is the request's fault, with the status HTTP has for it. */
export const TOO_SLOW: Situation = {
  openai: [408, REQUEST, null],
  messages: [408, REQUEST],
  reason: 'request_timeout',
};
export const RATE_LIMITED: Situation = {
  openai: [429, 'rate_limit_error', 'rate_limit_exceeded'],
  messages: [429, 'rate_limit_error'],
  reason: 'rate_limit_exceeded',
};
export const OVERLOADED: Situation = {
  openai: [503, 'server_error', 'server_is_overloaded'],
  messages: [529, 'overloaded_error'],
  reason: 'server_is_overloaded',
};
export const UPSTREAM_ERROR: Situation = {
  openai: [502, 'server_error', 'upstream_error'],
  messages: [500, 'api_error'],
  reason: 'upstream_error',
};
export const UPSTREAM_AUTH: Situation = {
  openai: [502, 'server_error', 'upstream_auth'],
  messages: [502, 'api_error'],
  reason: 'upstream_auth',
};
export const TRUNCATED: Situation = {
  openai: [502, 'server_error', 'upstream_truncated'],
  messages: [500, 'api_error'],
  reason: 'upstream_truncated',
};
export const TIMEOUT: Situation = {
  openai: [504, 'server_error', 'timeout'],
  messages: [504, 'timeout_error'],
  reason: 'timeout',
};

/** §5.6: the same request would be refused again. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 409, 413, 422]);
/** Of these it says nothing. */
const UNSPECIFIED: ReadonlySet<number> = new Set([405, 415, 426]);

interface ExpectedError {
  /** When it is another than the situation's usual one. */
  readonly code?: string | null;
  /** Null unless given. Messages has no place for it but the message. */
  readonly param?: string | null;
  readonly shouldRetry?: 'true' | 'false';
}

/** Checks an error response against the table, and everything that holds for all of them. Gives its message, without the id. */
export async function expectError(
  protocol: ProtocolEndpoint,
  response: Response,
  situation: Situation,
  expected: ExpectedError = {},
): Promise<string> {
  const text = await response.text();
  const [status, type] = protocol === 'messages' ? situation.messages : situation.openai;
  expect([response.status, text]).toEqual([status, expect.stringMatching(/^\{.*\}$/s)]);
  const id = expectIds(response);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expectAdvice(response.headers, status, situation, expected.shouldRetry);
  const body = JSON.parse(text) as JsonObject;
  const message = messageIn(body);
  const { code = situation.openai[2], param = null } = expected;
  if (protocol === 'messages') {
    const error = {
      type,
      message,
      ...((body['error'] as { details?: object }).details && { details: expect.anything() as unknown }),
    };
    expect(body).toEqual({ type: 'error', error, request_id: id });
    if (param !== null) expect(message).toContain(param);
  } else expect(body).toEqual({ error: { message, type, param, code } });
  return plain(message, id);
}

/** The same of whichever protocol; of one with errors of its own, what holds for the errors of all. */
export async function expectErrorOf(
  { id, errorForm }: ClientDouble,
  response: Response,
  situation: Situation,
): Promise<void> {
  if (errorForm !== undefined)
    return void (await expectError(errorForm === 'messages' ? 'messages' : 'responses', response, situation));
  const text = await response.text();
  expect([id, response.ok, text]).toEqual([id, false, expect.stringMatching(/^\{.*\}$/s)]);
  expect(text).toContain(` (request id: ${expectIds(response)})`);
}

/** Both headers, always, and the same. */
export function expectIds({ headers }: Response): string {
  const id = headers.get('x-request-id') ?? '';
  expect(id).toMatch(/^req_[0-9a-f]{32}$/);
  expect(headers.get('request-id')).toBe(id);
  return id;
}

/** The message in front of the request's id, which stands at its end and nowhere else. */
export function plain(message: string, id: string): string {
  const end = ` (request id: ${id})`;
  expect(message.endsWith(end)).toBe(true);
  expect(message.split('(request id:')).toHaveLength(2);
  return message.slice(0, -end.length);
}

/** The one row that a call of this caller has left, and nothing on hold: refused calls and failed ones that cost nothing. */
export async function expectFreeRow(
  relay: RelayApp,
  caller: TestCaller,
  response: Response,
  expected: JsonObject,
): Promise<StoredCall> {
  const row = await relay.onlyCall(caller);
  expect(row).toMatchObject({
    id: response.headers.get('x-request-id'),
    key_id: caller.keyId,
    billing_basis: 'free',
    cost: '0',
    uncollected: '0',
    prompt_tokens: null,
    completion_tokens: null,
    first_token_ms: null,
    ...expected,
  });
  expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  return row;
}

function messageIn(body: JsonObject): string {
  const { message } = body['error'] as { readonly message: unknown };
  expect(typeof message).toBe('string');
  return message as string;
}

function expectAdvice(headers: Headers, status: number, situation: Situation, shouldRetry?: string): void {
  const final = FINAL.has(status) || situation === INSUFFICIENT_QUOTA;
  if (!UNSPECIFIED.has(status)) expect(headers.get('x-should-retry')).toBe(shouldRetry ?? (final ? 'false' : null));
  const retryAfter = headers.get('retry-after');
  if (retryAfter !== null) expectSeconds(retryAfter);
  if (situation === RATE_LIMITED || shouldRetry === 'true') expect(retryAfter).not.toBeNull();
  expect(headers.get('www-authenticate')).toEqual(status === 401 ? expect.stringMatching(/^Bearer\b/) : null);
}

function expectSeconds(retryAfter: string): void {
  expect(retryAfter).toMatch(/^[1-9]\d*$/);
  expect(Number(retryAfter)).toBeLessThanOrEqual(60);
}
