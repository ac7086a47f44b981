import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from './config/index.js';
import { RunState } from './relay/index.js';

/** How long calls that were cut off may take to notice it, in ms. */
const CUT_OFF_MS = 1000;

/**
 * Stops in order: not ready any more, running calls get SHUTDOWN_GRACE_MS to end, then everything is closed.
 * Starts at SIGTERM or SIGINT, and when the wrapper that started this process has died.
 */
export function stopOnSignals(app: NestFastifyApplication, config: Config, closed: () => void): void {
  const logger = new Logger('Shutdown');
  let stopping = false;
  const stop = async (why: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.log(`Stopping (${why}).`);
    await app.get(RunState).drain(config.shutdownGraceMs);
    // Whoever is still here is cut off, which settles their calls; the server would wait for them without end.
    app.getHttpServer().closeAllConnections();
    await app.get(RunState).drain(CUT_OFF_MS);
    await app.close();
    closed();
    process.exit(0);
  };
  const stopFor = (why: string) => (): void => {
    stop(why).catch((error: unknown) => {
      logger.error({ err: error }, 'The process could not stop in order.');
      process.exit(1);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stopFor(signal));
  process.on('disconnect', stopFor('its wrapper is gone'));
  // It may have died while this process was still starting. Without a wrapper there is no channel at all.
  if (process.channel !== undefined && !process.connected) stopFor('its wrapper is gone')();
}
