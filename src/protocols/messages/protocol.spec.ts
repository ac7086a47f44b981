import { aCall, aRequestLine, listedModels, refusalOf } from '../../../test/support/calls.js';
import { type CallHead, UpstreamRefusal } from '../contract/index.js';
import { AppError, type ErrorKind } from '../../platform/shared/index.js';
import { MessagesProtocol } from './protocol.js';

const protocol = new MessagesProtocol();
const head = (body: object): CallHead => aCall(protocol, body).head;
const least = { model: 'm', max_tokens: 100, messages: [] };

describe('Messages call head', () => {
  it("reads the client's settings", () => {
    expect(head({ ...least, stream: true })).toMatchObject({
      model: 'm',
      stream: true,
      outputLimit: 100,
      choices: 1,
      effort: undefined,
    });
    expect(head({ ...least, max_tokens: 0 }).outputLimit).toBe(0);
  });

  it.each([
    [{ output_config: { effort: 'max' }, thinking: { type: 'adaptive' } }, 'max'],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, undefined],
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{ thinking: { type: 'enabled', budget_tokens: 4096 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 4097 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 32768 } }, 'high'],
    [{ thinking: { type: 'enabled', budget_tokens: 32769 } }, 'xhigh'],
    [{ thinking: null, output_config: null }, undefined],
  ])('reads the effort of %j', (fields, effort) => {
    expect(head({ ...least, ...fields }).effort).toBe(effort);
  });

  it.each([
    [{ max_tokens: 1, messages: [] }, 'model', 'missing_required_parameter'],
    [{ model: 'm', messages: [] }, 'max_tokens', 'missing_required_parameter'],
    [{ ...least, max_tokens: null }, 'max_tokens', 'missing_required_parameter'],
    [{ ...least, max_tokens: 1.5 }, 'max_tokens', 'invalid_value'],
    [{ ...least, messages: {} }, 'messages', 'invalid_value'],
    [{ model: 'm', max_tokens: 1 }, 'messages', 'missing_required_parameter'],
    [{ ...least, output_config: { effort: 1 } }, 'output_config.effort', 'invalid_value'],
  ])('rejects %j', (body, param, fault) => {
    expect(refusalOf(() => head(body))).toMatchObject({ kind: 'invalid_request', details: { param, fault } });
  });
});

describe('Messages requests', () => {
  it.each([
    ['/v1/messages', {}, true],
    ['/v1/messages/count_tokens', {}, true],
    ['/v1/messagesx', {}, false],
    ['/v1/models', {}, false],
    ['/v1/models', { 'anthropic-version': '2023-06-01' }, true],
    ['/v1/anything', { 'vendor-version': '2026-10-21' }, true],
    ['/pricing', { 'anthropic-version': '2023-06-01' }, false],
  ])('%s with %j: %p', (path, headers, expected) => {
    expect(protocol.claims(aRequestLine({ path, headers }))).toBe(expected);
  });
});

describe('Messages errors (case 95)', () => {
  it.each<[ErrorKind, number, string]>([
    ['invalid_token', 401, 'authentication_error'],
    ['permission_denied', 403, 'permission_error'],
    ['insufficient_quota', 402, 'billing_error'],
    ['invalid_request', 400, 'invalid_request_error'],
    ['context_length_exceeded', 400, 'invalid_request_error'],
    ['model_not_found', 404, 'not_found_error'],
    ['not_found', 404, 'not_found_error'],
    ['method_not_allowed', 405, 'invalid_request_error'],
    ['upgrade_required', 426, 'invalid_request_error'],
    ['request_too_large', 413, 'request_too_large'],
    ['request_timeout', 408, 'invalid_request_error'],
    ['unsupported_media_type', 415, 'invalid_request_error'],
    ['rate_limit_exceeded', 429, 'rate_limit_error'],
    ['server_is_overloaded', 529, 'overloaded_error'],
    ['unavailable', 503, 'overloaded_error'],
    ['shutting_down', 529, 'overloaded_error'],
    ['upstream_error', 500, 'api_error'],
    ['upstream_auth', 502, 'api_error'],
    ['upstream_truncated', 500, 'api_error'],
    ['timeout', 504, 'timeout_error'],
    ['internal', 500, 'api_error'],
  ])('renders %s as %i %s', (kind, status, type) => {
    const rendered = protocol.renderError(new AppError(kind, 'Something.'), 'req_1');
    expect(rendered.status).toBe(status);
    expect(rendered.body).toMatchObject({ type: 'error', error: { type }, request_id: 'req_1' });
  });

  const messageOf = (error: AppError): unknown => protocol.renderError(error, 'req_1').body['error'];

  it('names the member in the message', () => {
    const refusal = new AppError('invalid_request', 'Too large.', { param: 'tools[0].name' });
    expect(messageOf(refusal)).toMatchObject({ message: 'tools[0].name: Too large. (request id: req_1)' });
    const saying = new AppError('invalid_request', 'tools[0].name: Too large.', { param: 'tools[0].name' });
    expect(messageOf(saying)).toMatchObject({ message: 'tools[0].name: Too large. (request id: req_1)' });
  });

  it('starts a quota message with the expected words', () => {
    const refusal = new AppError('insufficient_quota', 'insufficient quota: nothing left.', { param: 'max_tokens' });
    expect(messageOf(refusal)).toMatchObject({ message: 'insufficient quota: nothing left. (request id: req_1)' });
  });

  it("keeps the upstream's code", () => {
    const refusal = new UpstreamRefusal('invalid_request', 'No.', {}, 'thread_unsupported_request');
    expect(messageOf(refusal)).toMatchObject({ details: { error_code: 'thread_unsupported_request' } });
  });
});

describe('Messages streams for clients', () => {
  const call = aCall(protocol, least);

  it('end with a named error event and no marker when failed (cases 23, 29 and 98)', () => {
    const error = new AppError('upstream_truncated', 'The upstream closed the stream.');
    expect(Buffer.from(protocol.renderStreamError(call, error)).toString()).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"The upstream closed the stream. (request id: req_1)"},"request_id":"req_1"}\n\n',
    );
  });

  it('are kept alive with a comment before the start, and a ping after it (case 24)', () => {
    expect(Buffer.from(protocol.keepAlive(false)).toString()).toBe(': keepalive\n\n');
    expect(Buffer.from(protocol.keepAlive(true)).toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it('lists twenty models per page', () => {
    const models = listedModels(30);
    expect(protocol.renderModels(models, aRequestLine())).toMatchObject({
      has_more: true,
      last_id: 'm/19',
    });
  });
});
