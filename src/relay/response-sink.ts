/** Takes the body of an upstream's answer as it comes. */
export interface ResponseSink {
  chunk(bytes: Uint8Array): void;
  /** The body has ended in order. */
  end(): void;
  /** The body has broken off. */
  fail(error: unknown): void;
  /** Nobody listens any more: drop timers. */
  stop(): void;
}
