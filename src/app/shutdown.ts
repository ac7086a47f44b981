import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BillingService, Sweeper } from '../relay/billing/index.js';
import type { Config } from '../platform/config/index.js';
import { RunState } from '../relay/index.js';
import { within } from '../platform/shared/index.js';
import type { StopRequest } from './stop-request.js';

/** How long calls that were cut off may take to be settled and told, and clients to read what was said to them, in ms. */
const LAST_WORDS_MS = 5000;
/** How long calls may take to notice that their client's connection is gone, in ms. */
const DESTROYED_MS = 1000;

/**
 * Stops in order, once the process is told to stop or when it has been already: not ready any more and no new calls,
 * running ones get SHUTDOWN_GRACE_MS to end, what is left then ends with an error of its dialect, and everything is closed.
 */
export function stopOnSignal(told: StopRequest, app: NestFastifyApplication, config: Config, closed: () => void): void {
  const shutdown = new Shutdown(told, app, config, closed);
  void told.given.then((why) => shutdown.start(why));
}

class Shutdown {
  private readonly logger = new Logger('Shutdown');

  constructor(
    private readonly told: StopRequest,
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

  /** Gives how many calls could not be settled; each is in the log. */
  private async stop(): Promise<number> {
    const state = this.app.get(RunState);
    // What others left behind is for others now; the statement that runs is waited for when everything is closed.
    void this.app.get(Sweeper).stop();
    // The server goes on listening: a load balancer shall hear that this process is not ready, and a call that it should
    // go elsewhere, where a closed port would only look like a fault.
    await within(Promise.race([state.drain(), this.haste()]), this.config.shutdownGraceMs);
    if (state.running > 0) this.logger.warn(`Shutdown timed out: ${state.running} requests were still running.`);
    await within(state.cutOff(), LAST_WORDS_MS);
    // Whoever has not read everything by now never will. Their calls are settled already, or are settled by this.
    const server = this.app.getHttpServer();
    server.close().closeAllConnections();
    await within(state.answered(), DESTROYED_MS);
    await this.app.close();
    this.closed();
    return this.app.get(BillingService).unsettled;
  }

  private async haste(): Promise<void> {
    const who = await this.told.hurried;
    this.logger.warn(`${who} received again: no longer waiting for running calls.`);
  }
}
