/** What is on its way and must be over before the process may end. */
export class InFlight {
  private readonly promises = new Set<Promise<unknown>>();

  add<T>(promise: Promise<T>): Promise<T> {
    const settled = promise.catch(() => undefined).finally(() => this.promises.delete(settled));
    this.promises.add(settled);
    return promise;
  }

  /** Resolves when there is nothing left, what came meanwhile included. */
  async over(): Promise<void> {
    while (this.promises.size > 0) await Promise.all(this.promises);
  }
}
