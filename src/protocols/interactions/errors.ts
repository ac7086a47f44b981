import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { classifyGoogleInnerError, objectsIn } from '../contract/index.js';

// Errors within responses: `{ error: { code, message } }` in events, `errors` of failed interactions, and those of
// `google.rpc` in steps. https://ai.google.dev/gemini-api/docs/api-errors

/** Codes of output that was blocked: `content_blocked` and those of single filters. */
const BLOCKED = /(?:^|_)(?:blocked|blocklist|prohibited|recitation|safety|spii)(?:_|$)/i;

export const isBlocked = ({ code }: JsonObject): boolean => typeof code === 'string' && BLOCKED.test(code);

/** @param error with code and message */
export const classifyInteractionsInnerError = (error: JsonObject): AppError => classifyGoogleInnerError({ error });

/** Why an interaction failed; undefined if the vendor does not say. */
export function failureIn({ errors, steps }: JsonObject): JsonObject | undefined {
  const failures = [
    ...objectsIn(errors),
    ...objectsIn(steps).flatMap(({ error }) => (isJsonObject(error) ? [error] : [])),
  ];
  return failures.find((failure) => isBlocked(failure)) ?? failures[0];
}

export const unexplainedFailure = (status: string): AppError =>
  new AppError('upstream_error', `The upstream did not complete the response (${status}).`, { failover: true });
