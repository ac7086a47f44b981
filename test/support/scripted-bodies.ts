/** What requests say in their bodies, for vendors that have it there. */

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

export function modelIn(request: WithBody): string | undefined {
  const { model } = jsonIn(request);
  return typeof model === 'string' ? model : undefined;
}
