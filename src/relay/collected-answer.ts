import { type Observable, firstValueFrom, reduce, throwError, timeout } from 'rxjs';
import type { UpstreamHeaders } from '../call/index.js';
import type { UpstreamPart } from '../channels/index.js';
import { AppError } from '../shared/index.js';

/** What an upstream said to a request that is no call. */
export interface CollectedAnswer {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly chunks: readonly Buffer[];
}

const NOTHING: CollectedAnswer = { status: 0, headers: {}, chunks: [] };

/** All of an answer. @throws AppError as the parts do, and timeout when not all of it is there in time */
export function collected(parts: Observable<UpstreamPart>, patienceMs: number): Promise<CollectedAnswer> {
  const late = (): Observable<never> =>
    throwError(() => new AppError('timeout', `no answer within ${patienceMs / 1000} s`));
  return firstValueFrom(parts.pipe(reduce(add, NOTHING), timeout({ first: patienceMs, with: late })));
}

const add = (so: CollectedAnswer, part: UpstreamPart): CollectedAnswer =>
  part.type === 'head'
    ? { ...so, status: part.status, headers: part.headers }
    : { ...so, chunks: [...so.chunks, part.bytes] };

/** The body as JSON; undefined when it is none. */
export function jsonOf({ chunks }: CollectedAnswer): unknown {
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    // No JSON: the answer is told by its status.
    return undefined;
  }
}
