import { AppError, type ErrorDetails, type ErrorKind } from '../../platform/shared/index.js';
import type { SplicedBody } from './json-splice.js';

/** A request to an upstream, without address and credentials, which the channel adds. */
export interface UpstreamRequest {
  /** Behind the channel's base address: `/chat/completions`. */
  readonly path: string;
  /** The query to add to the channel's own, without the question mark; may be empty. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: SplicedBody;
  /** `POST` when absent; the others go without the body. */
  readonly method?: 'GET' | 'DELETE';
  /**
   * How many of the content's stop texts, from the first on, the upstream has been told, when it was built from
   * content. The others are looked for in the answer.
   */
  readonly stopsSent?: number;
}

/**
 * An upstream's refusal of the request itself. Clients of the same dialect know more codes than the relay does, and
 * some act on them, so the upstream's own word for the fault is kept.
 */
export class UpstreamRefusal extends AppError {
  constructor(
    kind: ErrorKind,
    message: string,
    details: ErrorDetails,
    /** The code in the upstream's dialect: `previous_response_not_found`. Undefined when it gave none. */
    readonly code: string | undefined,
  ) {
    super(kind, message, details);
  }
}
