import { AppError, type ErrorDetails, type ErrorKind } from '../../platform/shared/index.js';

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
