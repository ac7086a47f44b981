import { type AppError, maskKeys } from '../../../platform/shared/index.js';
import { localPath } from '../local-path.js';
import { Page } from '../page.js';
import { errorWords } from './error-words.js';

/** The request that failed. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

/** A page that says what failed. Never a stack, and of a failure that was not foreseen not its message either. */
export function errorPage(error: AppError, status: number, request: FailedRequest, now: Date): Page {
  const words = errorWords(error, status);
  const data = {
    ...words,
    now,
    errorClass: `${status}, ${error.kind.replaceAll('_', ' ')}`,
    reference: request.id,
    // What was posted cannot be asked for again by a link, and a link must not repeat a key.
    retry:
      words.retry && request.method === 'GET' && maskKeys(request.url) === request.url
        ? localPath(request.url)
        : undefined,
  };
  return new Page('errors/error', { title: words.heading, layout: 'auth', width: 'wide', status, data });
}
