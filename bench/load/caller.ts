// One client's connections to a target. undici's `dispatch` takes 19 µs of CPU for a small call, `node:http` 29 µs.
import { type Dispatcher, Pool } from 'undici';
import { type Behaviour, EVENTS, modelFor } from '../work/behaviours.ts';
import type { ProtocolEndpoint } from '../work/protocol.ts';
import { protocolOf } from '../work/protocols.ts';
import type { Target } from './jobs.ts';
import { StreamCheck } from './stream-check.ts';

/** How a call ended. Times in ms since it was begun. */
export interface Outcome {
  /** Undefined when all was well. */
  readonly failure: string | undefined;
  readonly ms: number;
  readonly check: StreamCheck | undefined;
  readonly firstMs: number | undefined;
}

export class Caller {
  private readonly pool: Pool;
  private readonly target: Target;
  private readonly protocol: ProtocolEndpoint;

  constructor(target: Target) {
    this.target = target;
    this.protocol = protocolOf(target.protocol);
    this.pool = new Pool(target.origin, {
      pipelining: 1,
      headersTimeout: 120_000,
      keepAliveTimeout: 60_000,
      // A server that is short of time closes what it called alive: well before that nothing is sent there any more.
      keepAliveTimeoutThreshold: 2500,
    });
  }

  body(behaviour: Behaviour, promptBytes: number): Buffer {
    const body = this.protocol.request(behaviour, promptBytes);
    const { model } = this.target;
    return model === undefined ? body : Buffer.from(body.toString().replace(modelFor(behaviour), model));
  }

  /** Sends a call and reads its response to the end. */
  call(behaviour: Behaviour, body: Buffer, headers = this.target.headers): Promise<Outcome> {
    return new Promise((resolve) => this.start(behaviour, body, headers, resolve));
  }

  /** Resolves with the first event of a stream; the rest goes on unseen. */
  open(behaviour: Behaviour, body: Buffer): Promise<Outcome> {
    return new Promise((resolve) => {
      const exchange = this.start(behaviour, body, this.target.headers, resolve);
      exchange.onFirst = resolve;
    });
  }

  /** Cuts off whatever is under way. */
  close(): Promise<void> {
    return this.pool.destroy();
  }

  private start(
    behaviour: Behaviour,
    body: Buffer,
    headers: Readonly<Record<string, string>>,
    done: (outcome: Outcome) => void,
  ): Exchange {
    const events = EVENTS[behaviour];
    const check = events === 0 ? undefined : new StreamCheck(events, this.protocol);
    const exchange = new Exchange(done, check);
    const path = `/v1${this.protocol.path}`;
    this.pool.dispatch(
      { path, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body, bodyTimeout: 0 },
      exchange,
    );
    return exchange;
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  onFirst: ((outcome: Outcome) => void) | undefined;
  private readonly begun = performance.now();
  private readonly done: (outcome: Outcome) => void;
  private readonly check: StreamCheck | undefined;
  private status = 0;
  private refusal = '';

  constructor(done: (outcome: Outcome) => void, check: StreamCheck | undefined) {
    this.done = done;
    this.check = check;
  }

  onRequestStart(): void {
    // undici tells apart old and new handlers by this method.
  }

  onResponseStart(_: unknown, status: number): void {
    this.status = status;
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.status !== 200) this.refusal += chunk.toString();
    this.check?.feed(chunk, performance.now());
    if (this.onFirst === undefined || this.check?.firstAt === undefined) return;
    this.onFirst(this.outcome(undefined));
    this.onFirst = undefined;
  }

  onResponseEnd(): void {
    if (this.status !== 200) this.done(this.outcome(`${this.status} ${this.refusal.slice(0, 300)}`));
    else if (this.check?.whole === false) this.done(this.outcome('a stream ended without its last event'));
    else this.done(this.outcome(undefined));
  }

  onResponseError(_: unknown, error: Error): void {
    this.done(this.outcome(`${error.name}: ${error.message}`));
  }

  private outcome(failure: string | undefined): Outcome {
    const { check, begun } = this;
    const firstMs = check?.firstAt === undefined ? undefined : check.firstAt - begun;
    return { failure, ms: performance.now() - begun, check, firstMs };
  }
}
