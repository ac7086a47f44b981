import type { AppError } from '../../../platform/shared/index.js';

/** What an error page says. */
export interface ErrorWords {
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Whether the same request may succeed later. */
  readonly retry: boolean;
}

/** Calls do not go through pages. */
const NOT_AFFECTED = 'Only this page is affected. API calls are not.';

/** Says what failed in the words of the error, unless it was not raised on purpose. */
export function errorWords(error: AppError, status: number): ErrorWords {
  if (status === 404) return NOT_FOUND;
  if (status === 429) return tooMany(error);
  if (status >= 500) return ourFault(error);
  return {
    heading: status === 403 ? 'Access denied' : 'Request failed',
    paragraphs: [error.message],
    retry: false,
  };
}

/** The same whether there is nothing, or nothing for whoever asks. */
const NOT_FOUND: ErrorWords = {
  heading: 'Page not found',
  paragraphs: ['The address may be wrong, or the page was removed.'],
  retry: false,
};

function tooMany(error: AppError): ErrorWords {
  const seconds = error.details.retryAfterSeconds;
  return {
    heading: 'Too many attempts',
    paragraphs: seconds === undefined ? [error.message] : [error.message, `Try again in ${duration(seconds)}.`],
    retry: true,
  };
}

function ourFault(error: AppError): ErrorWords {
  const known = error.kind !== 'internal';
  return {
    heading: known ? 'This page could not be loaded' : 'Internal error',
    paragraphs: [known ? error.message : 'The error was logged with the reference below.', NOT_AFFECTED],
    retry: true,
  };
}

function duration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? 'one second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
