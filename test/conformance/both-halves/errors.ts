import { AppError, type ErrorKind } from '../../../src/shared/index.js';
import { readEvents } from '../../support/stream-text.js';
import type { DialectUnderTest } from './dialect-under-test.js';
import { context } from './speaking.js';

/** All of them, or this does not compile. */
const KINDS: Readonly<Record<ErrorKind, true>> = {
  invalid_token: true,
  permission_denied: true,
  insufficient_quota: true,
  invalid_request: true,
  context_length_exceeded: true,
  model_not_found: true,
  not_found: true,
  method_not_allowed: true,
  upgrade_required: true,
  conflict: true,
  request_too_large: true,
  request_timeout: true,
  unsupported_media_type: true,
  rate_limit_exceeded: true,
  server_is_overloaded: true,
  unavailable: true,
  shutting_down: true,
  upstream_error: true,
  upstream_auth: true,
  upstream_truncated: true,
  timeout: true,
  internal: true,
  context_canceled: true,
};

/** Whatever goes wrong, the dialect has words for it, before the answer and within it. */
export function describeErrors(dialect: DialectUnderTest): void {
  it.each(Object.keys(KINDS) as ErrorKind[])('%s can be said on HTTP and in a stream (cases 95 and 98)', (kind) => {
    const error = new AppError(kind, 'This went wrong.');
    const { status, body } = dialect.protocol.renderError(error, 'req_7');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(body)).toContain('This went wrong. (request id: req_7)');

    const { call } = context(dialect, true);
    const ending = dialect.protocol.renderStream(context(dialect, true)).fail(error);
    dialect.client.expectFailure([], readEvents(ending));
    expect(ending).toContain(`This went wrong. (request id: ${call.id})`);
  });
}
