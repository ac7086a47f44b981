import type { AppError } from '../../../platform/shared/index.js';

/** Texts of an error page. */
export interface ErrorText {
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Whether a retry may succeed. */
  readonly retry: boolean;
}

const NOT_AFFECTED = 'API calls are not affected.';

/** Shows the error's own message, except for internal errors. */
export function errorText(error: AppError, status: number): ErrorText {
  if (status === 404) return NOT_FOUND;
  if (status === 429) return tooMany(error);
  if (status >= 500) return isOurError(error);
  return {
    heading: status === 403 ? 'Access denied' : 'Request failed',
    paragraphs: [error.message],
    retry: false,
  };
}

/** Identical for missing pages and pages the user may not see. */
const NOT_FOUND: ErrorText = {
  heading: 'Page not found',
  paragraphs: ['The address may be wrong, or the page may have been deleted.'],
  retry: false,
};

function tooMany(error: AppError): ErrorText {
  const seconds = error.details.retryAfterSeconds;
  return {
    heading: 'Too many requests',
    paragraphs: seconds === undefined ? [error.message] : [error.message, `Try again in ${duration(seconds)}.`],
    retry: true,
  };
}

function isOurError(error: AppError): ErrorText {
  const known = error.kind !== 'internal';
  return {
    heading: known ? 'Could not load this page' : 'Internal error',
    paragraphs: [known ? error.message : 'The error was logged with the reference below.', NOT_AFFECTED],
    retry: true,
  };
}

function duration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
