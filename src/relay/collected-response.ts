import { type Observable, firstValueFrom, reduce, throwError, timeout } from 'rxjs';
import { AppError } from '../platform/shared/index.js';
import type { UpstreamHeaders } from '../protocols/contract/index.js';
import { ResponseSize } from './response-stream.js';
import type { UpstreamPart } from './upstream/upstream-client.js';

/** The response to a request that is not a call. */
export interface CollectedResponse {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly chunks: readonly Buffer[];
}

/** The complete response. @throws AppError of the upstream client, and when it is too large or too slow */
export function collected(parts: Observable<UpstreamPart>, timeoutMs: number): Promise<CollectedResponse> {
  const late = (): Observable<never> =>
    throwError(() => new AppError('timeout', `The upstream did not respond within ${timeoutMs / 1000} s.`));
  const size = ResponseSize.ofWhole();
  const chunks: Buffer[] = [];
  const add = (response: CollectedResponse, part: UpstreamPart): CollectedResponse => {
    if (part.type === 'head') return { status: part.status, headers: part.headers, chunks };
    if (part.type === 'chunk') {
      size.add(part.bytes);
      chunks.push(part.bytes);
    }
    return response;
  };
  const nothing: CollectedResponse = { status: 0, headers: {}, chunks };
  return firstValueFrom(parts.pipe(reduce(add, nothing), timeout({ first: timeoutMs, with: late })));
}

/** The parsed body; undefined if it is not JSON. */
export function jsonOf({ chunks }: CollectedResponse): unknown {
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    // Not JSON: only the status counts.
    return undefined;
  }
}
