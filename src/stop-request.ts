/**
 * Whether this process was told to stop, from its first moment on: by a signal, or by the death of the wrapper that
 * started it. Only the first reason counts; without this, a signal during the start would end the process on the spot
 * and leave behind what it had started.
 */
export class StopRequest {
  private first: string | undefined;
  /** Resolves with the reason. */
  readonly given: Promise<string>;

  constructor() {
    let resolve: (reason: string) => void;
    this.given = new Promise((done) => (resolve = done));
    const give = (reason: string) => (): void => {
      this.first ??= reason;
      resolve(reason);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, give(signal));
    process.on('disconnect', give('its wrapper is gone'));
    // It may have died before this process could listen. Without a wrapper there is no channel at all.
    if (process.channel !== undefined && !process.connected) give('its wrapper is gone')();
  }

  /** Undefined as long as nobody has asked. */
  get reason(): string | undefined {
    return this.first;
  }
}
