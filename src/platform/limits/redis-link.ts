import { Redis } from 'ioredis';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Secret, within } from '../shared/index.js';
import { type RedisScript, SCRIPTS } from './redis-scripts.js';

const CONNECT_TIMEOUT_MS = 2000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;

export type RedisArgument = string | number;

/**
 * A connection to Redis that reconnects by itself. Never queues: commands fail at once while disconnected, and pending
 * ones fail when the connection breaks. Commands of one event loop turn are pipelined.
 */
export class RedisLink {
  /** Called when an established connection is lost. */
  onLost: ((reason: unknown) => void) | undefined;
  private readonly client: Redis;
  private lastError: unknown = new Error('not connected yet');

  /** @param silenceMs time without a response after which the connection is dropped */
  constructor(
    url: Secret,
    private readonly silenceMs: number,
  ) {
    this.client = new Redis(url.reveal(), {
      lazyConnect: true,
      enableAutoPipelining: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
      // `load`, which has a timeout, checks a new connection.
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: (times) => Math.min(times * FIRST_RETRY_MS, LAST_RETRY_MS),
    });
    this.client.on('connect', () => (this.lastError = new Error('the connection was closed')));
    this.client.on('error', (error: unknown) => (this.lastError = error));
    this.client.on('close', () => this.onLost?.(this.lastError));
  }

  /** Resolves once connected. @throws if the first attempt fails; further attempts continue */
  open(): Promise<void> {
    return this.client.connect();
  }

  /** Loads the scripts into a server that does not have them. @throws without a connection */
  async load(): Promise<void> {
    if (this.client.status !== 'ready') throw this.lastError;
    const giveUp = setTimeout(() => this.client.disconnect(true), this.silenceMs).unref();
    try {
      await Promise.all(SCRIPTS.map(({ lua }) => this.client.script('LOAD', lua)));
    } finally {
      clearTimeout(giveUp);
    }
  }

  /** @throws without a connection, or if the server rejects the command */
  async run({ lua, sha }: RedisScript, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown> {
    try {
      return await this.client.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      // The script cache was flushed.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return this.client.eval(lua, keys.length, ...keys, ...args);
    }
  }

  /** Closes after pending responses, or after `patienceMs`. */
  async close(patienceMs: number): Promise<void> {
    this.onLost = undefined;
    // Commands of this turn are sent at its end.
    await nextTurn();
    if (this.client.status === 'ready') await within(this.client.quit(), patienceMs).catch(() => undefined);
    this.client.disconnect();
  }
}
