/** What requests say in their bodies, for vendors that have it there, and what vendors of one family say alike. */

import type { JsonObject } from './scripted-steps.js';

interface WithBody {
  readonly body: Buffer;
}

/** The request's JSON, or an empty object: scripts also answer requests that are none. */
export function jsonIn({ body }: WithBody): JsonObject {
  try {
    return JSON.parse(body.toString()) as JsonObject;
  } catch {
    return {};
  }
}

export const streamIn = (request: WithBody): boolean => jsonIn(request)['stream'] === true;

/** A refusal as OpenAI words it, for the vendors of both its protocols. */
export function openAiError(status: number, message: string): JsonObject {
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  return { error: { message, type, param: null, code: null } };
}

export function modelIn(request: WithBody): string | undefined {
  const { model } = jsonIn(request);
  return typeof model === 'string' ? model : undefined;
}
