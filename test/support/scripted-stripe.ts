import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fields = Readonly<Record<string, string>>;
/** An object as Stripe answers it, as far as anybody here reads it. */
export type StripeObject = Readonly<Record<string, unknown>> & { readonly id: string };

export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Of the form or of the query: `line_items[0][quantity]`. */
  readonly fields: Fields;
}

let made = 0;

/** A Stripe on this machine: opens and closes checkouts, and lists what a test has put there. */
export class ScriptedStripe {
  readonly requests: StripeRequest[] = [];
  /** Newest first, as Stripe lists them. */
  readonly sessions: StripeObject[] = [];
  readonly refunds: StripeObject[] = [];
  readonly disputes: StripeObject[] = [];
  /** What every request is answered with; undefined: as Stripe would. */
  failure: { readonly status: number; readonly message: string } | undefined;
  /** What happens before the next request is answered, once. */
  meanwhile: (() => Promise<void>) | undefined;
  /** So many it lists at once. */
  pageSize = 100;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedStripe> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stripe = new ScriptedStripe(server);
    server.on('request', (request, response) => void stripe.answer(request, response));
    return stripe;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** What `StripeEndpoint` has to say to lead here. */
  get endpoint() {
    return { protocol: 'http', host: '127.0.0.1', port: this.port, timeoutMs: 5000, retries: 0 } as const;
  }

  /** The checkout that was opened last. */
  get lastSession(): StripeObject {
    const [session] = this.sessions;
    if (session === undefined) throw new Error('No checkout was opened.');
    return session;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stripe.test');
    if (pathname.startsWith('/pay/'))
      return void response.setHeader('content-type', 'text/html').end(this.pageOf(pathname.slice('/pay/'.length)));
    const body = new URLSearchParams(await textOf(request));
    const fields = Object.fromEntries([...searchParams, ...body]);
    this.requests.push({ method: request.method ?? '', path: pathname, headers: request.headers, fields });
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    const { status, body: answer } = this.failure
      ? { status: this.failure.status, body: { error: { type: 'api_error', message: this.failure.message } } }
      : this.answerTo(request.method ?? '', pathname, fields);
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_stripe' });
    response.end(JSON.stringify(answer));
  }

  private answerTo(method: string, path: string, fields: Fields): { status: number; body: object } {
    if (method === 'POST' && path === '/v1/checkout/sessions') return { status: 200, body: this.open(fields) };
    const [, closed] = /^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(path) ?? [];
    if (closed !== undefined)
      return { status: 200, body: { id: closed, object: 'checkout.session', status: 'expired' } };
    const list = { '/v1/checkout/sessions': this.sessions, '/v1/refunds': this.refunds, '/v1/disputes': this.disputes };
    const objects = list[path as keyof typeof list];
    return objects === undefined
      ? { status: 404, body: { error: { type: 'invalid_request_error', message: `No ${path} here.` } } }
      : { status: 200, body: this.listed(objects, path, fields) };
  }

  private open(fields: Fields): StripeObject {
    const id = `cs_test_${(made += 1)}`;
    const session = {
      id,
      object: 'checkout.session',
      created: Math.floor(Date.now() / 1000),
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      amount_total: Number(fields['line_items[0][price_data][unit_amount]']),
      currency: fields['line_items[0][price_data][currency]'],
      client_reference_id: fields['client_reference_id'],
      metadata: {
        top_up_id: fields['metadata[top_up_id]'],
        account_id: fields['metadata[account_id]'],
      },
      success_url: fields['success_url'],
      cancel_url: fields['cancel_url'],
      // To a browser that is another site than the relay's, as Stripe's own is.
      url: `http://localhost:${this.port}/pay/${id}`,
    };
    this.sessions.unshift(session);
    return session;
  }

  /** Where people pay, or do not, and are sent back. */
  private pageOf(id: string): string {
    const session = this.sessions.find((one) => one.id === id);
    const link = (member: string, name: string): string => `<a href="${String(session?.[member])}">${name}</a>`;
    return `<!doctype html><title>Stripe</title>${link('success_url', 'Pay')} ${link('cancel_url', 'Back')}`;
  }

  private listed(objects: readonly StripeObject[], url: string, fields: Fields): object {
    const from = Number(fields['created[gte]'] ?? 0);
    const found = objects.filter(({ created }) => Number(created) >= from);
    const start = found.findIndex(({ id }) => id === fields['starting_after']) + 1;
    const data = found.slice(start, start + this.pageSize);
    return { object: 'list', url, data, has_more: start + data.length < found.length };
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
