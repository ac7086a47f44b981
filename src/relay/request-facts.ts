import type { FastifyRequest } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallTrace, RequestLine } from '../protocols/contract/index.js';
import type { Caller } from '../keys/index.js';
import { addressOf, idTime, monotonicMs } from '../platform/shared/index.js';

/** What is known of a request from its arrival. */
interface Arrival {
  /** Unix ms, as in the request's ID. */
  readonly createdAt: number;
  /** Monotonic. */
  readonly startedMs: number;
  /** Client address, stored because a closed socket has none. */
  readonly ip: string;
  /** Undefined without tracing. */
  readonly trace: CallTrace | undefined;
}

/** Stores the ID only: pooled upstream connections keep their creation context alive. */
const requestIds = new AsyncLocalStorage<string>();

const arrivals = new WeakMap<FastifyRequest, Arrival>();

/** For the server's first hook. */
export function noteArrival(request: FastifyRequest, trace?: CallTrace): void {
  const createdAt = idTime(request.id);
  if (createdAt === undefined) throw new TypeError(`Invalid request id "${request.id}".`);
  arrivals.set(request, { createdAt, startedMs: monotonicMs(), ip: addressOf(request), trace });
}

/** Runs `work` in the context of a request, so that uncaught errors can be attributed to it. */
export function answering(requestId: string, work: () => void): void {
  requestIds.run(requestId, work);
}

/** The current request; undefined if unknown. */
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

/** The authenticated caller. Requires the key guard. */
export function callerOf(request: FastifyRequest): Caller {
  const { user } = request as FastifyRequest & { user?: Caller };
  if (user === undefined) throw new TypeError('A route without the key guard read the caller.');
  return user;
}
