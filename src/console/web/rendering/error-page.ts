import { type AppError, maskKeys } from '../../../platform/shared/index.js';
import { localPath } from '../local-path.js';
import { Page } from '../page.js';
import { errorText } from './error-text.js';

/** The request that failed. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

/** Never shows a stack trace, or the message of an internal error. */
export function errorPage(error: AppError, status: number, request: FailedRequest, now: Date): Page {
  const words = errorText(error, status);
  const data = {
    ...words,
    now,
    errorClass: `${status}, ${error.kind.replaceAll('_', ' ')}`,
    reference: request.id,
    // A link cannot repeat a POST, and must not contain an API key.
    retry:
      words.retry && request.method === 'GET' && maskKeys(request.url) === request.url
        ? localPath(request.url)
        : undefined,
  };
  return new Page('errors/error', { title: words.heading, layout: 'auth', width: 'wide', status, data });
}
