import { AppError, type ErrorDetails, type ErrorKind } from '../../platform/shared/index.js';
import type { SplicedBody } from './json-splice.js';

/** An upstream request without address and credentials, which the channel adds. */
export interface UpstreamRequest {
  /** Relative to the base URL: `/chat/completions`. */
  readonly path: string;
  /** Added to the channel's query; without the question mark; may be empty. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: SplicedBody;
  /** Default: `POST`; others have no body. */
  readonly method?: 'GET' | 'DELETE';
  /** Number of stop sequences sent, from the first, for built requests; the others are enforced in the response. */
  readonly stopSequencesSent?: number;
}

/**
 * An upstream's rejection of the request itself. Keeps the upstream's code, on which clients of the same protocol may
 * act.
 */
export class UpstreamRefusal extends AppError {
  constructor(
    kind: ErrorKind,
    message: string,
    details: ErrorDetails,
    /** Code in the upstream's protocol: `previous_response_not_found`. Undefined if none. */
    readonly code: string | undefined,
  ) {
    super(kind, message, details);
  }
}
