import type { Observable } from 'rxjs';
import { Flow, type StreamTail } from '../call/index.js';

/** What the engine and the reply writer share of one call while its answer passes. */
export class Answer {
  /** Back-pressure from the client to whichever upstream is being read. */
  readonly flow = new Flow();
  /** Reply headers that only the engine knows; sent with the first byte. */
  readonly headers: Record<string, string> = {};
  /** Milliseconds of the call's life so far, for `server-timing`. */
  readonly timing: { admitMs?: number; upstreamMs?: number } = {};
  /** The first and the last event that the upstream has sent. */
  tail: StreamTail = {};
  /** Something of an answer has been let go: from here on no other channel may be tried. */
  committed = false;

  /** @param interruption errs when the answer must end before its time */
  constructor(readonly interruption: Observable<never>) {}
}
