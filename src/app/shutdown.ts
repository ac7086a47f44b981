import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from '../platform/config/index.js';
import { DatabaseServer, isConnectionLost } from '../platform/database/index.js';
import { monotonicMs, reasonOf, within } from '../platform/shared/index.js';
import { isWorker, onOrder, surviveLostPrimary } from '../platform/workers/index.js';
import { BillingService, Sweeper } from '../relay/billing/index.js';
import { RunState, WebSockets } from '../relay/index.js';
import { stopListening } from './listen.js';

/** Max ms for settling aborted calls and for clients to read their last response. */
const LAST_WORDS_MS = 5000;
/** Max ms for calls to notice that their connection is closed. */
const DESTROYED_MS = 1000;

/**
 * Stops in order once a stop is requested, or at once if it already was: the process becomes unready, rejects new calls
 * after SHUTDOWN_DELAY_MS, waits for running ones until SHUTDOWN_GRACE_MS are over, ends the rest with an error of its
 * protocol, and closes everything.
 */
export function stopOnSignal(
  stopRequest: StopRequest,
  app: NestFastifyApplication,
  config: Config,
  closed: () => void,
): void {
  const shutdown = new Shutdown(stopRequest, app, config, closed);
  void stopRequest.given.then((why) => shutdown.start(why));
}

class Shutdown {
  private readonly logger = new Logger('Shutdown');

  constructor(
    private readonly stopRequest: StopRequest,
    private readonly app: NestFastifyApplication,
    private readonly config: Config,
    private readonly closed: () => void,
  ) {}

  start(why: string): void {
    this.logger.log(`Stopping (${why}).`);
    this.stop().then(
      (unsettled) => process.exit(unsettled > 0 ? 1 : 0),
      (error: unknown) => {
        this.logger.error({ err: error }, 'The process did not stop cleanly.');
        process.exit(1);
      },
    );
  }

  /** Returns how many calls could not be settled; each is logged. */
  private async stop(): Promise<number> {
    const state = this.app.get(RunState);
    // Other processes take over the sweep; a running statement is awaited when everything is closed.
    void this.app.get(Sweeper).stop();
    const { shutdownDelayMs, shutdownGraceMs } = this.config;
    const hurried = this.haste();
    if (shutdownDelayMs > 0) await this.leave(state, hurried);
    // Otherwise the server keeps listening, so that new calls get a retryable error instead of a refused connection.
    await within(Promise.race([state.drain(), hurried]), shutdownGraceMs - shutdownDelayMs);
    if (state.running > 0) this.logger.warn(`Shutdown timed out: ${state.running} requests were still running.`);
    await within(state.cutOff(), LAST_WORDS_MS);
    // Clients that have not read everything by now are disconnected; that settles their calls if nothing has.
    const server = this.app.getHttpServer();
    server.close().closeAllConnections();
    this.app.get(WebSockets).terminate();
    await within(state.responsesClosed(), DESTROYED_MS);
    await this.app.close();
    this.closed();
    return this.app.get(BillingService).unsettled;
  }

  /**
   * With other hosts behind the same load balancer: new calls are served until it has seen the readiness, then
   * connections are refused, which it can always pass on to another host, unlike a call that was sent.
   */
  private async leave(state: RunState, hurried: Promise<void>): Promise<void> {
    state.leave();
    await within(hurried, this.config.shutdownDelayMs);
    stopListening(this.app.getHttpServer());
  }

  private async haste(): Promise<void> {
    const who = await this.stopRequest.hurried;
    this.logger.warn(`${who} received again: no longer waiting for running calls.`);
  }
}

/** One press of Ctrl-C comes several times: from the terminal, from npm, from the wrapper, from the primary. */
const ONE_WISH_MS = 1000;

/**
 * Tracks stop requests from the first moment of the process: a signal, the death of the process that started it, or, in
 * a worker, an order of its primary. Only the first reason counts. Without it, a signal during the start would end the
 * process at once and leave behind what it had started.
 */
export class StopRequest {
  private first: string | undefined;
  private firstMs = 0;
  private resolveGiven: (reason: string) => void = () => undefined;
  private resolveHurried: (who: string) => void = () => undefined;
  /** Resolves with the reason. */
  readonly given = new Promise<string>((resolve) => (this.resolveGiven = resolve));
  /** Resolves with the sender when a second stop is requested: running calls are no longer waited for. */
  readonly hurried = new Promise<string>((resolve) => (this.resolveHurried = resolve));

  constructor() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.onSignal(signal));
    if (isWorker) this.listenToPrimary();
    const gone = isWorker ? 'its primary exited' : 'its parent exited';
    process.on('disconnect', () => this.give(gone));
    // The parent may have died before this process listened. Without a parent there is no channel.
    if (process.channel !== undefined && !process.connected) this.give(gone);
  }

  /** Undefined until a stop is requested. */
  get reason(): string | undefined {
    return this.first;
  }

  private listenToPrimary(): void {
    surviveLostPrimary();
    onOrder(({ order, why }) => (order === 'stop' ? this.give(why) : this.resolveHurried(why)));
  }

  private onSignal(signal: NodeJS.Signals): void {
    // A closing terminal sends several SIGHUP; other signals ask for haste when repeated.
    if (this.first !== undefined && signal !== 'SIGHUP' && monotonicMs() - this.firstMs >= ONE_WISH_MS)
      this.resolveHurried(signal);
    this.give(signal);
  }

  private give(reason: string): void {
    if (this.first !== undefined) return;
    this.first = reason;
    this.firstMs = monotonicMs();
    this.resolveGiven(reason);
  }
}

/** A failed start that has already printed the reason. */
export class ReportedError extends Error {}

/** Exits with a one-line reason when the start fails. */
export async function startOrExit(start: (stopRequest: StopRequest) => Promise<void>): Promise<void> {
  try {
    await start(new StopRequest());
  } catch (error) {
    const reason = isConnectionLost(error)
      ? `The database connection was lost during startup (${reasonOf(error)}). Start again.`
      : reasonOf(error);
    if (!(error instanceof ReportedError)) process.stderr.write(`error: ${reason}\n`);
    await DatabaseServer.releaseAll();
    process.exit(1);
  }
}
