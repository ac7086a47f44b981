import { refusalOf } from '../../../test/support/calls.js';
import { cpuMs, STEPS_MS } from '../../../test/support/timing.js';
import { AppError, type ErrorDetails, type ErrorKind } from '../../platform/shared/index.js';
import { classifyInnerError, classifyUpstream, readResponseFields, scrub } from './classify-upstream.js';
import { jsonInterests } from './json-members.js';
import { errorHeaders, messageWithId, renderOpenAiError } from './openai.js';

const error = (kind: ErrorKind, details: ErrorDetails = {}): AppError => new AppError(kind, 'Something.', details);

describe('OpenAI errors (case 95)', () => {
  it.each<[ErrorKind, number, string, string | null]>([
    ['invalid_token', 401, 'invalid_request_error', 'invalid_api_key'],
    ['permission_denied', 403, 'permission_error', 'permission_denied'],
    ['insufficient_quota', 429, 'insufficient_quota', 'insufficient_quota'],
    ['invalid_request', 400, 'invalid_request_error', 'invalid_value'],
    ['context_length_exceeded', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['model_not_found', 404, 'invalid_request_error', 'model_not_found'],
    ['not_found', 404, 'invalid_request_error', null],
    ['method_not_allowed', 405, 'invalid_request_error', null],
    ['upgrade_required', 426, 'invalid_request_error', null],
    ['request_too_large', 413, 'invalid_request_error', 'request_too_large'],
    ['request_timeout', 408, 'invalid_request_error', null],
    ['unsupported_media_type', 415, 'invalid_request_error', null],
    ['rate_limit_exceeded', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['server_is_overloaded', 503, 'server_error', 'server_is_overloaded'],
    ['unavailable', 503, 'server_error', 'server_is_overloaded'],
    ['shutting_down', 503, 'server_error', 'server_is_overloaded'],
    ['upstream_error', 502, 'server_error', 'upstream_error'],
    ['upstream_auth', 502, 'server_error', 'upstream_auth'],
    ['upstream_truncated', 502, 'server_error', 'upstream_truncated'],
    ['timeout', 504, 'server_error', 'timeout'],
    ['internal', 500, 'server_error', null],
    ['context_canceled', 499, 'server_error', 'context_canceled'],
  ])('renders %s as %i %s %s with all four members', (kind, status, type, code) => {
    const param = kind === 'model_not_found' ? 'model' : null;
    const rendered = renderOpenAiError(error(kind), 'req_1');
    expect(rendered.status).toBe(status);
    expect(rendered.body).toEqual({ error: { message: 'Something. (request id: req_1)', type, param, code } });
  });

  it('names the member and its problem', () => {
    const refusal = error('invalid_request', { param: 'input', fault: 'missing_required_parameter' });
    expect(renderOpenAiError(refusal, 'req_1').body['error']).toMatchObject({
      param: 'input',
      code: 'missing_required_parameter',
    });
  });

  it("keeps the upstream's code", () => {
    const body = { error: { message: 'Previous response not found.', code: 'previous_response_not_found' } };
    expect(renderOpenAiError(classifyUpstream(400, {}, body), 'req_1').body['error']).toMatchObject({
      code: 'previous_response_not_found',
    });
  });
});

describe('error headers', () => {
  it.each([400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 426])('mark %i as final', (status) => {
    expect(errorHeaders(error('invalid_request'), status)['x-should-retry']).toBe('false');
  });

  it('mark an exhausted quota as final unless it is on hold (case 100)', () => {
    expect(errorHeaders(error('insufficient_quota'), 429)['x-should-retry']).toBe('false');
    const onHold = error('insufficient_quota', { shouldRetry: true, retryAfterSeconds: 2 });
    expect(errorHeaders(onHold, 429)).toEqual({ 'x-should-retry': 'true', 'retry-after': '2' });
  });

  it.each<[ErrorKind, number]>([
    ['rate_limit_exceeded', 429],
    ['upstream_error', 502],
    ['unavailable', 503],
    ['timeout', 504],
    ['server_is_overloaded', 529],
  ])('leave %s to the status', (kind, status) => {
    expect(errorHeaders(error(kind), status)).not.toHaveProperty('x-should-retry');
  });

  it.each([
    [3600, '60'],
    [0, '1'],
    [1.2, '2'],
    [undefined, '1'],
  ])('render a wait of %p s as %s (case 97)', (retryAfterSeconds, header) => {
    const limit = error('rate_limit_exceeded', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    expect(errorHeaders(limit, 429)['retry-after']).toBe(header);
  });

  it('challenge requests without a valid key', () => {
    expect(errorHeaders(error('invalid_token'), 401)).toEqual({
      'x-should-retry': 'false',
      'www-authenticate': 'Bearer realm="switchboard"',
    });
  });

  it('end messages with the request ID once', () => {
    expect(messageWithId('No.', 'req_1')).toBe('No. (request id: req_1)');
    expect(messageWithId('No. (request id: req_9)', 'req_1')).toBe('No. (request id: req_1)');
  });
});

describe('upstream error classification', () => {
  const said = (message: string, more: object = {}): object => ({ error: { message, ...more } });

  it.each<[number, object | string, ErrorKind]>([
    [401, said('Incorrect API key'), 'upstream_auth'],
    [403, said('Forbidden'), 'upstream_auth'],
    [400, said('API key not valid. Please pass a valid API key.'), 'upstream_auth'],
    [402, said('Payment required'), 'server_is_overloaded'],
    [429, said('You exceeded your current quota', { code: 'insufficient_quota' }), 'server_is_overloaded'],
    [400, said('Your credit balance is too low to access the API.'), 'server_is_overloaded'],
    [429, said('Slow down', { type: 'rate_limit_error' }), 'rate_limit_exceeded'],
    [404, said('The model `gpt-x` does not exist', { code: 'model_not_found' }), 'upstream_error'],
    [404, said('model: claude-x', { type: 'not_found_error' }), 'upstream_error'],
    [400, said('model gpt-x not found'), 'upstream_error'],
    [404, '<html>nginx</html>', 'upstream_error'],
    [404, { detail: 'Not Found' }, 'upstream_error'],
    [405, '', 'upstream_error'],
    [302, '', 'upstream_error'],
    [408, '', 'timeout'],
    [504, '', 'timeout'],
    [409, '', 'upstream_error'],
    [500, said('Boom'), 'upstream_error'],
    [502, '', 'upstream_error'],
    [503, said('Overloaded'), 'server_is_overloaded'],
    [529, said('Overloaded', { type: 'overloaded_error' }), 'server_is_overloaded'],
  ])('%i %j allows failover, as %s', (status, body, kind) => {
    const classified = classifyUpstream(status, {}, body);
    expect(classified.kind).toBe(kind);
    expect(classified.details).toMatchObject({ failover: true, upstreamStatus: status });
  });

  it('distinguishes requests too large for a rate limit from waits', () => {
    const classified = classifyUpstream(429, {}, said('Request too large for m: Limit 10000, Requested 20000.'));
    expect(classified.kind).toBe('rate_limit_exceeded');
    expect(classified.details).toMatchObject({ failover: true, ofRequest: true, shouldRetry: false });
  });

  it.each<[number, object | string, ErrorKind]>([
    [403, said('Your input was flagged by the provider'), 'invalid_request'],
    [400, said('temperature: Extra inputs are not permitted'), 'invalid_request'],
    [400, said('temperature is not supported with this model', { param: 'temperature' }), 'invalid_request'],
    [400, said('model: String should have at least 1 character'), 'invalid_request'],
    [400, said("Unknown parameter: 'billing'."), 'invalid_request'],
    [400, said('Unknown name "invalid_api_key" at \'tools[0]\'.'), 'invalid_request'],
    [404, said('No tool output found for function call call_1.'), 'invalid_request'],
    [422, { detail: 'input: field required' }, 'invalid_request'],
    [400, said("This model's maximum context length is 8192 tokens."), 'context_length_exceeded'],
    [400, said('prompt is too long: 210000 tokens > 200000 maximum'), 'context_length_exceeded'],
    [413, 'Request Entity Too Large', 'request_too_large'],
  ])("%i %j is the request's error, as %s", (status, body, kind) => {
    const classified = classifyUpstream(status, {}, body);
    expect(classified.kind).toBe(kind);
    expect(classified.details.failover).toBeUndefined();
  });

  it('keeps message and member of a rejected request', () => {
    const body = said('Unknown parameter: tools[0].x', { param: 'tools[0].x', code: 'unknown_parameter' });
    expect(classifyUpstream(400, {}, body)).toMatchObject({
      message: 'Unknown parameter: tools[0].x',
      details: { param: 'tools[0].x', fault: 'unsupported_parameter' },
    });
  });

  it('hides messages about our account (case 96)', () => {
    const body = said('Incorrect API key provided: sk-up***9xyz. See https://api.vendor.com/account. org-abc');
    expect(classifyUpstream(401, {}, body).message).not.toMatch(/sk-|vendor|org-|http/);
  });

  it.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '3600' }, 3600],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT', date: 'Fri, 20 Nov 2026 10:00:00 GMT' }, 30],
    [{ 'retry-after': 'soon' }, 1],
    [{}, 1],
  ])('reads the retry delay of %j', (headers, seconds) => {
    expect(classifyUpstream(429, headers, '').details.retryAfterSeconds).toBe(seconds);
  });

  it.each<[object, ErrorKind]>([
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'server_is_overloaded'],
    [{ error: { code: 'rate_limit_exceeded', message: 'Slow down' } }, 'rate_limit_exceeded'],
    [{ error: { code: 'insufficient_quota', message: 'No money' } }, 'server_is_overloaded'],
    [{ error: { code: 'context_length_exceeded', message: 'Too long' } }, 'context_length_exceeded'],
    [{ error: { code: 'server_error', message: 'Boom' } }, 'upstream_error'],
    [{ error: { type: 'invalid_request_error', message: 'No' } }, 'invalid_request'],
    [{ error: { type: 'authentication_error', message: 'No' } }, 'upstream_auth'],
    [{ error: 'Boom' }, 'upstream_error'],
    [{ type: 'error', code: 'server_is_overloaded', message: 'Busy' }, 'server_is_overloaded'],
    [{}, 'upstream_error'],
  ])('classifies an error within a response by type: %j', (body, kind) => {
    expect(classifyInnerError(body).kind).toBe(kind);
  });
});

describe('errors in 200 responses (case 22)', () => {
  const interests = jsonInterests('usage', 'error');
  const read = (json: string): unknown => readResponseFields(Buffer.from(json), interests).value('usage');

  it('accept an error of null or false', () => {
    expect(read('{"error":null,"usage":{"a":1}}')).toEqual({ a: 1 });
    expect(read('{"error":false}')).toBeUndefined();
  });

  it.each([
    '{"error":{"message":"Busy","code":"server_is_overloaded"}}',
    '{"error":"Busy"}',
    '[]',
    '<html>',
    '',
    '{"a":',
  ])('reject %j with failover', (json) => {
    expect(refusalOf(() => read(json))).toMatchObject({ details: { failover: true } });
  });
});

describe('scrubbing', () => {
  it.each([
    ['See https://api.vendor.com/v1/x?key=1.', 'See [address]'],
    ['connect ECONNREFUSED 10.0.0.12:8443', 'connect ECONNREFUSED [address]'],
    ['connect ECONNREFUSED [fe80::1]:443', 'connect ECONNREFUSED [address]'],
    ['getaddrinfo ENOTFOUND api.eu.vendor.internal', 'getaddrinfo ENOTFOUND [address]'],
    ['at localhost:8080 and vllm:8000', 'at [address] and [address]'],
    ['key sk-proj-abcDEF123456 is bad', 'key [credential] is bad'],
    ['header Bearer abc.def-123', 'header [credential]'],
    ['in organization org-AbC123 on tokens', 'in organization [organization] on tokens'],
    ['project proj_abcdef', 'project [organization]'],
    ['arn:aws:bedrock:us-east-1:123:model/x', '[resource]'],
  ])('%s', (message, clean) => {
    expect(scrub(message)).toBe(clean);
  });

  it.each([
    'messages.0.content.1.image.source.base64.data: invalid',
    'messages[10].content: too long',
    'Invalid value: 3.5 for temperature; e.g. 0.7',
    'max_tokens: 4096 > 2048',
    'tools.2.custom.input_schema: task-based schemas are not allowed',
  ])('keeps useful text: %s', (message) => {
    expect(scrub(message)).toBe(message);
  });

  it('limits message length', () => {
    expect(scrub('x'.repeat(10_000_000))).toHaveLength(2_000);
  });

  it.each(['a.', 'a-', '[:'])('takes bounded time for endless messages of %j', (piece) => {
    const [long, endless] = [piece.repeat(3000), piece.repeat(40_000)];
    const often = (text: string): number =>
      cpuMs(() => {
        for (let time = 0; time < 50; time += 1) scrub(text);
      });
    expect(often(endless)).toBeLessThan(5 * often(long) + STEPS_MS);
  });
});
