import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ProtocolAdapter, type RenderedError, DEFAULT_STATUSES } from '../protocols/contract/index.js';
import { isDatabaseOutage } from '../platform/database/index.js';
import { Metrics } from '../platform/metrics/index.js';
import { RateLimited } from '../platform/limits/index.js';
import { AdapterRegistry, isApiRequest, requestLineOf } from '../relay/index.js';
import { AppError, type ErrorKind, maskKeys } from '../platform/shared/index.js';
import { StepRequired, ErrorPages } from '../console/web/index.js';

/** Framework errors by status. */
const KIND_BY_STATUS: Readonly<Record<number, ErrorKind>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'request_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limit_exceeded',
  503: 'server_is_overloaded',
};

/**
 * Converts errors to HTTP responses: rendered by the request's protocol, or as a page. Started streams report their own
 * errors; unparsable requests are handled in configure-app.ts.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Error');
  private readonly errors;

  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly pages: ErrorPages,
    metrics: Metrics,
  ) {
    this.errors = metrics.counter('errors_total', 'Error responses, by kind.', ['kind', 'to']);
  }

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (thrown instanceof StepRequired) return this.pages.redirect(thrown, reply);
    const error = appErrorOf(thrown);
    // AppErrors were logged with their call.
    if (error.kind === 'internal' && !(thrown instanceof AppError))
      this.logger.error({ err: thrown, request_id: request.id }, 'A request failed.');
    // The client has left, or the stream has reported the error.
    if (reply.sent || reply.raw.destroyed) return;
    this.errors.inc({ kind: error.kind, to: isApiRequest(request) ? 'program' : 'person' });
    if (request.method === 'HEAD') return void reply.status(DEFAULT_STATUSES[error.kind]).send();
    if (isApiRequest(request)) this.respondToApi(error, request, reply);
    else await this.respondToBrowser(error, request, reply);
  }

  private respondToApi(error: AppError, request: FastifyRequest, reply: FastifyReply): void {
    const protocol = this.adapters.claimingAdapter(requestLineOf(request));
    const { status, headers, body } = this.worded(error, protocol, request.id);
    if (error instanceof RateLimited) void reply.headers(protocol.renderLimits(error.statuses));
    void reply.status(status).headers(headers).type('application/json; charset=utf-8').send(body);
  }

  /** A protocol that fails to render an error is a bug: the default protocol renders it. */
  private worded(error: AppError, protocol: ProtocolAdapter, requestId: string): RenderedError {
    try {
      return protocol.renderError(error, requestId);
    } catch (fault) {
      this.logger.error({ err: fault, request_id: requestId }, `${protocol.id} has no rendering for ${error.kind}.`);
      return this.adapters.defaultAdapter.renderError(error, requestId);
    }
  }

  private async respondToBrowser(error: AppError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { retryAfterSeconds } = error.details;
    if (retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterSeconds);
    if (request.headers.accept?.includes('text/html'))
      await this.pages.respond(error, DEFAULT_STATUSES[error.kind], request, reply);
    else respondWithText(error, request, reply);
  }
}

/** For clients that are neither API clients nor browsers. */
function respondWithText(error: AppError, request: FastifyRequest, reply: FastifyReply): void {
  const text = error.kind === 'not_found' ? 'There is no page at this address.' : error.message;
  void reply
    .status(DEFAULT_STATUSES[error.kind])
    .type('text/plain; charset=utf-8')
    .send(`${text} (request id: ${request.id})\n`);
}

function appErrorOf(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseOutage(thrown))
    return new AppError('unavailable', 'The database is not responding. Retry shortly.', {
      retryAfterSeconds: 1,
    });
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusCodeOf(thrown);
  if (status === undefined || status < 400) return AppError.from(thrown);
  const kind = KIND_BY_STATUS[status] ?? (status < 500 ? 'invalid_request' : 'internal');
  if (kind === 'internal') return AppError.from(thrown);
  return new AppError(kind, thrown instanceof Error ? maskKeys(thrown.message) : 'The request was rejected.');
}

/** Fastify's errors have a status. */
function statusCodeOf(thrown: unknown): number | undefined {
  const status = (thrown as { statusCode?: unknown } | undefined)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}
