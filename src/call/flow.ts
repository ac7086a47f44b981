/** What can be asked to stop sending for a while: the socket of an upstream. */
interface Pausable {
  pause(): void;
  resume(): void;
}

/**
 * The way back of one call: who writes to the client pauses it when the client's socket is full, and whoever reads from
 * the upstream stops reading until it is resumed. One per call; several attempts may be attached to it in turn.
 */
export class Flow {
  private source: Pausable | undefined;
  private isPaused = false;

  get paused(): boolean {
    return this.isPaused;
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.source?.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.source?.resume();
  }

  /** From now on this source is the one that is paused and resumed. Returns what takes it off again. */
  attach(source: Pausable): () => void {
    this.source = source;
    if (this.isPaused) source.pause();
    return () => {
      if (this.source === source) this.source = undefined;
    };
  }
}
