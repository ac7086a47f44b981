/** Where Stripe's API is. Tests put a server of their own there. */
export class StripeEndpoint {
  readonly protocol: 'https' | 'http' = 'https';
  readonly host: string = 'api.stripe.com';
  readonly port: number = 443;
  /** So long one request may take. */
  readonly timeoutMs: number = 10_000;
  /** So often one is tried again that was not answered. */
  readonly retries: number = 2;
}
