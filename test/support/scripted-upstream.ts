/**
 * A fake upstream for tests: a real HTTP server on loopback that records what it receives and
 * answers exactly what a script says. Unscripted it behaves like a small polite vendor
 * (`scripted-default.ts`). One server serves many tests: call `reset()` between them.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { VENDORS } from '../conformance/protocols/index.js';
import { defaultResponse } from './scripted-default.js';
import { ScriptedPlayer } from './scripted-player.js';
import { RecordedRequest } from './scripted-request.js';
import type { Script } from './scripted-steps.js';

export * from './scripted-responses.js';
export type { ConnectionEnd as Closing, RecordedRequest } from './scripted-request.js';
export * from './scripted-steps.js';

const NEXT_REQUEST_TIMEOUT_MS = 5000;

const protocolOf = (request: Pick<RecordedRequest, 'path'>): string | undefined =>
  VENDORS.find((vendor) => vendor.isCall(request))?.id;

export class ScriptedUpstream {
  /** Every request so far, in order of arrival. */
  readonly requests: RecordedRequest[] = [];

  #always: Script = defaultResponse;
  #once: Script[] = [];
  #handedOut = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<ServerResponse>();
  readonly #failures: unknown[] = [];

  private constructor(
    readonly server: Server,
    /** `http://127.0.0.1:PORT` */
    readonly origin: string,
  ) {}

  /** Listens on a free loopback port until `close()`. */
  static async start(): Promise<ScriptedUpstream> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const upstream = new ScriptedUpstream(server, `http://127.0.0.1:${port}`);
    server.on('request', (request, response) => void upstream.#answer(request, response));
    return upstream;
  }

  /** `http://127.0.0.1:PORT/v1`, what a channel's `base_url` takes. */
  get url(): string {
    return `${this.origin}/v1`;
  }

  /** Body bytes written so far in response to the latest request. */
  get lastSent(): Buffer {
    return this.requests.at(-1)?.sent ?? Buffer.alloc(0);
  }

  /** How many clients are connected, whether they ask for something or not. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  /** Answers every request from now on with this script. */
  script(script: Script): void {
    this.#always = script;
  }

  /** Answers the next requests with these scripts, one each, before the standing script applies again. */
  scriptNext(...scripts: readonly Script[]): void {
    this.#once.push(...scripts);
  }

  /** The next request that was not handed out yet, waiting for it if need be. Rejects after `timeoutMs`. */
  async nextRequest(timeoutMs = NEXT_REQUEST_TIMEOUT_MS): Promise<RecordedRequest> {
    const deadline = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const request = this.requests[this.#handedOut];
      if (request !== undefined) {
        this.#handedOut += 1;
        return request;
      }
      await this.#arrival(deadline);
    }
  }

  /** Forgets requests and scripts and cuts running answers. @throws AggregateError if a script function threw since the last reset. */
  reset(): void {
    this.requests.length = 0;
    this.#handedOut = 0;
    this.#always = defaultResponse;
    this.#once = [];
    this.#cutRunning();
    this.#raiseFailures();
  }

  /** Cuts everything and stops listening. Rejects like `reset()`. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.#cutRunning();
    this.server.closeAllConnections();
    await closed;
    this.#raiseFailures();
  }

  #raiseFailures(): void {
    const failures = this.#failures.splice(0);
    if (failures.length > 0) throw new AggregateError(failures, 'A script function of the upstream threw');
  }

  #cutRunning(): void {
    const running = [...this.#running];
    // Whoever is no longer in the set when its 'close' comes was cut by us.
    this.#running.clear();
    for (const response of running) response.destroy();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that leaves makes both emit errors; what matters is recorded at 'close'.
    incoming.on('error', () => undefined);
    response.on('error', () => undefined);
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) return;
    const request = new RecordedRequest(incoming, body, protocolOf);
    const over = new AbortController();
    const player = new ScriptedPlayer(request, response, over.signal);
    this.#running.add(response);
    const onClose = (): void => {
      over.abort();
      const cutHere = !this.#running.delete(response) || player.broken;
      request.recordClosed(response.writableFinished ? 'finished' : cutHere ? 'cut' : 'left');
    };
    // The client may have left while the last of its body was being read.
    if (response.closed) onClose();
    else response.once('close', onClose);
    const script = this.#once.shift() ?? this.#always;
    this.#record(request);
    await player.play(script).catch((error: unknown) => {
      this.#failures.push(error);
      this.#running.delete(response);
      response.destroy();
    });
  }

  #record(request: RecordedRequest): void {
    this.requests.push(request);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #arrival(deadline: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      deadline.addEventListener('abort', () => reject(new Error('The scripted upstream received no further request')), {
        once: true,
      });
    });
  }
}
