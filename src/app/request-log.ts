import { Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { arrivalOf, isApiAddress } from '../relay/index.js';
import { LimitedLines, maskKeys, networkOf } from '../platform/shared/index.js';

/** Max lines per network for requests with invalid keys. */
const LINES_A_MINUTE = 20;

/** Logs API requests that are not calls; calls have their own log line. */
export function logOtherRequests(server: FastifyInstance): void {
  const logger = new Logger('Request');
  const strangers = new LimitedLines(LINES_A_MINUTE, ({ key: network, count: requests, leftOut }) =>
    logger.warn(
      { network, requests, left_out: leftOut },
      'Too many requests with invalid keys from one network within a minute; some were not logged.',
    ),
  );
  server.addHook('onResponse', (request, reply, done) => {
    const isOther = isApiAddress(request.url) && (request.method !== 'POST' || reply.statusCode >= 400);
    if (isOther && (!isUnauthenticated(request) || strangers.admit(networkOf(arrivalOf(request).ip))))
      logger.log(lineOf(request, reply));
    done();
  });
  server.addHook('onClose', (_server, done) => {
    strangers.end();
    done();
  });
}

const lineOf = (request: FastifyRequest, reply: FastifyReply): Record<string, unknown> => ({
  request_id: request.id,
  method: request.method,
  path: maskKeys(request.url.split('?', 1)[0] ?? ''),
  status: reply.statusCode,
  duration_ms: Math.round(reply.elapsedTime),
});

const isUnauthenticated = (request: FastifyRequest): boolean => (request as { user?: unknown }).user === undefined;
