/** When a mail that could not be handed over is tried again, in ms after each failure. Tests take shorter ones. */
export class MailRetries {
  readonly afterMs: readonly number[] = [5_000, 30_000, 120_000];
}
