import { Redis } from 'ioredis';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Secret, within } from '../shared/index.js';
import { type RedisScript, SCRIPTS } from './redis-scripts.js';

const CONNECT_TIMEOUT_MS = 2000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;

export type RedisArgument = string | number;

/**
 * One connection to Redis, which is made anew whenever it was lost. Nothing waits for it: what is asked while there is
 * none fails at once, and so does whatever was under way when it broke. What is asked in one turn of the event loop goes
 * out together.
 */
export class RedisLink {
  /** Called whenever a connection that could be asked is gone. */
  onLost: ((reason: unknown) => void) | undefined;
  private readonly client: Redis;
  private lastError: unknown = new Error('not connected yet');

  /** @param silenceMs an answer that takes longer never comes: the connection is given up */
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
      // What is asked when a connection has been made is asked by `load`, which does not wait for ever.
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: (times) => Math.min(times * FIRST_RETRY_MS, LAST_RETRY_MS),
    });
    this.client.on('connect', () => (this.lastError = new Error('the connection was closed')));
    this.client.on('error', (error: unknown) => (this.lastError = error));
    this.client.on('close', () => this.onLost?.(this.lastError));
  }

  /** Resolves when the first connection is there. @throws why it could not be made; others are tried then */
  open(): Promise<void> {
    return this.client.connect();
  }

  /** Makes the scripts known to the server: a new one knows none. @throws when there is no connection */
  async load(): Promise<void> {
    if (this.client.status !== 'ready') throw this.lastError;
    const giveUp = setTimeout(() => this.client.disconnect(true), this.silenceMs).unref();
    try {
      await Promise.all(SCRIPTS.map(({ lua }) => this.client.script('LOAD', lua)));
    } finally {
      clearTimeout(giveUp);
    }
  }

  /** @throws when there is no connection, or the server does not take it */
  async run({ lua, sha }: RedisScript, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown> {
    try {
      return await this.client.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      // The script cache was flushed.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return this.client.eval(lua, keys.length, ...keys, ...args);
    }
  }

  /** Once what was asked before has been answered, or after `patienceMs`. */
  async close(patienceMs: number): Promise<void> {
    this.onLost = undefined;
    // What was asked last goes out at the end of this turn.
    await nextTurn();
    if (this.client.status === 'ready') await within(this.client.quit(), patienceMs).catch(() => undefined);
    this.client.disconnect();
  }
}
