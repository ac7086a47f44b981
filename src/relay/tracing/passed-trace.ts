import type { CallTrace } from '../../protocols/contract/index.js';
import { headersOf, newSpanId, type TraceContext } from './trace-context.js';

/** A trace of the client's that only passes: nothing of it is recorded here. */
export class PassedTrace implements CallTrace {
  constructor(private readonly parent: TraceContext) {}

  get traceId(): string {
    return this.parent.traceId;
  }

  attempt(): Readonly<Record<string, string>> {
    return headersOf({ ...this.parent, spanId: newSpanId() });
  }

  end(): void {
    // Nobody is told.
  }
}
