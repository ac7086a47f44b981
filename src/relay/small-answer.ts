import { firstValueFrom, type Observable, reduce, throwError, timeout } from 'rxjs';
import type { UpstreamHeaders } from '../call/index.js';
import type { UpstreamPart } from '../channels/index.js';
import { AppError } from '../shared/index.js';

/** An upstream's answer to a question that is no call, such as whether it is there. */
interface SmallAnswer {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  /** Parsed; undefined when it is no JSON. */
  readonly body: unknown;
}

/** @throws AppError as the parts do, and timeout when not all of it is there in time */
export async function smallAnswer(parts: Observable<UpstreamPart>, patienceMs: number): Promise<SmallAnswer> {
  const late = (): Observable<never> =>
    throwError(() => new AppError('timeout', `no answer within ${patienceMs / 1000} s`));
  const nothing: Collected = { status: 0, headers: {}, chunks: [] };
  const { chunks, ...head } = await firstValueFrom(
    parts.pipe(reduce(collect, nothing), timeout({ first: patienceMs, with: late })),
  );
  return { ...head, body: parsed(Buffer.concat(chunks)) };
}

interface Collected {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly chunks: readonly Buffer[];
}

const collect = (so: Collected, part: UpstreamPart): Collected =>
  part.type === 'head'
    ? { ...so, status: part.status, headers: part.headers }
    : { ...so, chunks: [...so.chunks, part.bytes] };

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // No JSON: it is told by its status.
    return undefined;
  }
}
