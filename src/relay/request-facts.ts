import type { FastifyRequest } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallTrace, RequestLine } from '../protocols/contract/index.js';
import type { Caller } from '../keys/index.js';
import { addressOf, idTime, monotonicMs } from '../platform/shared/index.js';

/** What is known of a request from its first moment on. */
interface Arrival {
  /** Milliseconds since 1970, as inside the request's id. */
  readonly createdAt: number;
  /** By the monotonic clock. */
  readonly startedMs: number;
  /** Whom it came from; a socket that has closed does not tell any more. */
  readonly ip: string;
  /** Undefined when nobody traces it. */
  readonly trace: CallTrace | undefined;
}

/** Only the id: what a call opened for others to use, as a connection to an upstream, keeps its context alive. */
const requestIds = new AsyncLocalStorage<string>();

const arrivals = new WeakMap<FastifyRequest, Arrival>();

/** For the server's first hook. */
export function noteArrival(request: FastifyRequest, trace?: CallTrace): void {
  const createdAt = idTime(request.id);
  if (createdAt === undefined) throw new TypeError(`Invalid request id "${request.id}".`);
  arrivals.set(request, { createdAt, startedMs: monotonicMs(), ip: addressOf(request), trace });
}

/** Runs what answers a request, so that whatever goes wrong within it can be told to belong to it. */
export function answering(requestId: string, work: () => void): void {
  requestIds.run(requestId, work);
}

/** The request that the running code belongs to; undefined where that is not known. */
export function currentRequestId(): string | undefined {
  return requestIds.getStore();
}

export function arrivalOf(request: FastifyRequest): Arrival {
  const arrival = arrivals.get(request);
  if (arrival === undefined) throw new TypeError('A request bypassed the first hook.');
  return arrival;
}

export function requestLineOf(request: FastifyRequest): RequestLine {
  const { url, method, headers } = request;
  const mark = url.indexOf('?');
  return {
    method,
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers,
  };
}

/** Who the key guard let in. Only behind that guard. */
export function callerOf(request: FastifyRequest): Caller {
  const { user } = request as FastifyRequest & { user?: Caller };
  if (user === undefined) throw new TypeError('A route without the key guard read the caller.');
  return user;
}
