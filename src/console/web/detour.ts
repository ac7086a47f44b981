/** Thrown where a page cannot be shown before something else is done: the browser is sent there (303). */
export class Detour extends Error {
  constructor(
    /** A path of ours. */
    readonly to: string,
  ) {
    super(`Go to ${to} first.`);
  }
}
