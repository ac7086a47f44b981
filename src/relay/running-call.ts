import type { Admission, Ticket } from './billing/index.js';
import type { ProtocolAdapter } from '../protocols/contract/index.js';
import type { CallContext } from './call-context.js';

/** An admitted call that is being answered. */
export interface RunningCall {
  readonly ticket: Ticket;
  readonly admission: Admission;
  readonly answer: CallContext;
  /** Who words the answer; the request is in the call's own dialect. */
  readonly protocol: ProtocolAdapter;
}
