import type { AppError, JsonObject } from '../../platform/shared/index.js';
import { classifyGoogleError, classifyGoogleInnerError } from './google.js';

const errorOf = (code: number, status: string, message: string, ...details: JsonObject[]): JsonObject => ({
  error: { code, message, status, ...(details.length > 0 && { details }) },
});
const info = (reason: string): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
});
const retryIn = (retryDelay: string): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});
const QUOTA = { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId: 'PerMinute' }] };
const EXCEEDED = 'You exceeded your current quota, please check your plan and billing details.';

const classified = (status: number, body: unknown, headers = {}): AppError =>
  classifyGoogleError(status, headers, body);

describe('classifyGoogleError', () => {
  it.each([
    ['API_KEY_INVALID', 'API key not valid. Please pass a valid API key.'],
    ['API_KEY_INVALID', 'API key expired. Please renew the API key.'],
    ['API_KEY_SERVICE_BLOCKED', 'Requests to this API are blocked.'],
  ])('blames the credential for the reason %s, despite status 400: %s', (reason, message) => {
    const error = classified(400, errorOf(400, 'INVALID_ARGUMENT', message, info(reason)));
    expect(error).toMatchObject({ kind: 'upstream_auth', details: { upstreamStatus: 400, failover: true } });
  });

  it.each([401, 403])('blames the credential for the status %d', (status) => {
    expect(classified(status, errorOf(status, 'PERMISSION_DENIED', 'No.'))).toMatchObject({ kind: 'upstream_auth' });
  });

  it.each([
    'User location is not supported for the API use.',
    'Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio.',
  ])('blames the account for location limits: %s', (message) => {
    expect(classified(400, errorOf(400, 'FAILED_PRECONDITION', message))).toMatchObject({
      kind: 'upstream_auth',
      details: { failover: true },
    });
  });

  it.each([
    ['34s', 34],
    ['34.074824224s', 35],
    ['0.5s', 1],
  ])('reads a rate limit of %s, whatever its message says of billing', (delay, seconds) => {
    expect(classified(429, errorOf(429, 'RESOURCE_EXHAUSTED', EXCEEDED, QUOTA, retryIn(delay)))).toMatchObject({
      kind: 'rate_limit_exceeded',
      details: { retryAfterSeconds: seconds, failover: true },
    });
  });

  it('recognizes a rate limit without delay', () => {
    expect(classified(429, errorOf(429, 'RESOURCE_EXHAUSTED', EXCEEDED, QUOTA)).kind).toBe('rate_limit_exceeded');
    const short = errorOf(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).');
    expect(classified(429, short).kind).toBe('rate_limit_exceeded');
  });

  it("prefers the header's delay", () => {
    const body = errorOf(429, 'RESOURCE_EXHAUSTED', 'Slow down.', retryIn('34s'));
    expect(classified(429, body, { 'retry-after': '7' })).toMatchObject({ details: { retryAfterSeconds: 7 } });
  });

  it('recognizes an exhausted balance without quota details', () => {
    const message = 'Your prepayment credits are depleted. Please manage your project and billing.';
    expect(classified(429, errorOf(429, 'RESOURCE_EXHAUSTED', message))).toMatchObject({
      details: { outOfMoney: true, failover: true },
    });
  });

  it.each([
    'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
    'The input token count exceeds the maximum number of tokens allowed 1048576.',
    'Unable to submit request because the input token count is 1048577 but model only supports up to 1048576.',
  ])('recognizes long prompts: %s', (message) => {
    expect(classified(400, errorOf(400, 'INVALID_ARGUMENT', message))).toMatchObject({
      kind: 'context_length_exceeded',
      message,
    });
  });

  it.each([
    'models/gemini-0 is not found for API version v1beta, or is not supported for generateContent.',
    'Publisher Model `projects/p/locations/l/publishers/google/models/gemini-0` was not found.',
  ])('recognizes unknown models: %s', (message) => {
    expect(classified(404, errorOf(404, 'NOT_FOUND', message))).toMatchObject({
      kind: 'upstream_error',
      details: { unknownModel: true, failover: true },
    });
  });

  it('blames the request otherwise, with its message', () => {
    const message = 'Requests ending with a model turn are not supported.';
    const error = classified(400, errorOf(400, 'INVALID_ARGUMENT', message));
    expect(error).toMatchObject({ kind: 'invalid_request', message, details: { upstreamStatus: 400 } });
    expect(error.details.failover).toBeUndefined();
  });

  it.each([
    [500, 'INTERNAL', 'upstream_error'],
    [503, 'UNAVAILABLE', 'server_is_overloaded'],
    [504, 'DEADLINE_EXCEEDED', 'timeout'],
  ])('blames the upstream for the status %d', (status, name, kind) => {
    expect(classified(status, errorOf(status, name, 'Oops.'))).toMatchObject({ kind, details: { failover: true } });
  });

  it.each([
    ['rate_limit_exceeded', 429, { kind: 'rate_limit_exceeded' }],
    ['quota_exceeded', 429, { details: { outOfMoney: true } }],
    ['payment_required', 402, { details: { outOfMoney: true } }],
    ['authentication', 401, { kind: 'upstream_auth' }],
    ['model_not_found', 404, { details: { unknownModel: true } }],
    ['parameter_unknown', 400, { kind: 'invalid_request', details: { fault: 'unsupported_parameter' } }],
    ['invalid_request', 400, { kind: 'invalid_request', code: undefined }],
    ['service_unavailable', 503, { kind: 'server_is_overloaded' }],
    ['api_error', 500, { kind: 'upstream_error' }],
  ])('classifies the code %s, with a status and within a response', (code, status, expected) => {
    const body = { error: { code, message: status === 429 ? EXCEEDED : 'Oops.' } };
    expect(classified(status, body)).toMatchObject(expected);
    expect(classifyGoogleInnerError(body)).toMatchObject(expected);
  });

  it('reads lists and unstructured bodies', () => {
    expect(classified(429, [errorOf(429, 'RESOURCE_EXHAUSTED', EXCEEDED, retryIn('3s'))])).toMatchObject({
      kind: 'rate_limit_exceeded',
      details: { retryAfterSeconds: 3 },
    });
    expect(classified(502, '<html>Bad gateway</html>').kind).toBe('upstream_error');
    expect(classified(400, '').kind).toBe('invalid_request');
  });

  it('hides credentials and addresses', () => {
    const message = 'Key AIzaSyDsecretsecret was refused by generativelanguage.googleapis.com.';
    expect(classified(400, errorOf(400, 'INVALID_ARGUMENT', message)).message).not.toMatch(/AIza|googleapis/);
  });

  it.each([
    [{ error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } }, 'server_is_overloaded'],
    [{ error: { message: 'Overloaded.', status: 'UNAVAILABLE' } }, 'server_is_overloaded'],
    [
      { error: { code: 429, message: EXCEEDED, status: 'RESOURCE_EXHAUSTED', details: [QUOTA] } },
      'rate_limit_exceeded',
    ],
    [{ error: { message: 'Oops.' } }, 'upstream_error'],
    [{ error: 'Oops.' }, 'upstream_error'],
  ])('classifies errors within a response: %j', (body, kind) => {
    expect(classifyGoogleInnerError(body).kind).toBe(kind);
  });
});

describe('Google errors whose members have other types', () => {
  const STRANGE = { valueOf: 1, toString: 1 };
  const details = [{ '@type': STRANGE, retryDelay: STRANGE, reason: STRANGE }];

  it.each([{ code: STRANGE }, { status: STRANGE }, { code: STRANGE, status: 'INTERNAL', details }])(
    'are classified: %j',
    (error) => {
      expect(classifyGoogleInnerError({ error })).toMatchObject({ kind: 'upstream_error' });
      expect(classified(429, { error: { ...error, details } })).toMatchObject({ kind: 'rate_limit_exceeded' });
    },
  );
});
