/** A request the demo upstream will not answer, and the error shape that Responses and Chat Completions share. */

import type { JsonObject } from '../../platform/shared/index.js';

interface RefusalDetails {
  /** HTTP status; 400 unless given. */
  readonly status?: number;
  /** The offending field, as the caller wrote it. */
  readonly param?: string;
  readonly code?: string;
}

/**
 * Not an AppError on purpose: to the relay this server is a stranger, and its errors
 * must reach it like those of every other upstream: as a status and a body.
 */
export class DemoRefusal extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = 'DemoRefusal';
    this.status = details.status ?? 400;
    this.param = details.param ?? null;
    this.code = details.code ?? null;
  }
}

/** `{error: {message, type, param, code}}`, all four always present. */
export function renderOpenAiError(refusal: DemoRefusal): JsonObject {
  const type = refusal.status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { message: refusal.message, type, param: refusal.param, code: refusal.code } };
}
