import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { randomUUID } from 'node:crypto';
import { isJsonObject, reasonOf, within } from '../shared/index.js';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import { ReconnectingSession } from './reconnecting-session.js';

/** A pg pool or client, a TypeORM query runner or an entity manager. */
interface StatementRunner {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

type NotificationHandler = (payload: unknown) => void | Promise<void>;

interface DatabaseRequest {
  readonly id: string;
  readonly payload: unknown;
}

/** How long cached data may be used while notifications are unavailable, in ms. */
export const UNHEARD_CACHE_MS = 1000;

/** PostgreSQL rejects notifications of 8,000 bytes or more. */
const MAX_MESSAGE_BYTES = 7999;

/**
 * Short messages between all processes on the database, including this one. Each message reaches every process that is
 * listening at that moment, once, in commit order; a disconnected process misses it, hence `onReconnect`. Handlers of a
 * message run in sequence; their errors are logged.
 */
export class Notifications {
  private readonly logger = new Logger('Notifications');
  private readonly handlers = new Map<string, Set<NotificationHandler>>();
  private readonly reconnectHandlers = new Set<() => void>();
  private readonly listener: Listener;

  constructor(
    url: string,
    private readonly general: pg.Pool,
  ) {
    this.listener = new Listener(url, {
      message: (message) => this.dispatch(message),
      reconnected: () => this.reconnectHandlers.forEach((handler) => void this.guard(handler, 'reconnect')),
    });
  }

  /** False while disconnected: caches are then valid for `UNHEARD_CACHE_MS`. */
  get connected(): boolean {
    return this.listener.connected;
  }

  /** First connection. @throws if it fails; later losses are repaired in the background */
  async start(): Promise<void> {
    await this.listener.start();
  }

  async close(): Promise<void> {
    await this.listener.close();
  }

  /** Registers a handler for a topic. Returns a function that removes it. */
  on(topic: string, handler: NotificationHandler): () => void {
    const handlers = this.handlers.get(topic) ?? new Set();
    this.handlers.set(topic, handlers.add(handler));
    return () => {
      handlers.delete(handler);
      if (handlers.size === 0 && this.handlers.get(topic) === handlers) this.handlers.delete(topic);
    };
  }

  /** Registers a handler that runs after a reconnect: messages may have been missed, so caches must be dropped. */
  onReconnect(handler: () => void): void {
    this.reconnectHandlers.add(handler);
  }

  /**
   * Sends a message to every process. With a transaction's runner it is delivered if and when that commits.
   * @param payload JSON value; with the topic below 8,000 bytes
   */
  async publish(topic: string, payload?: unknown, runner: StatementRunner = this.general): Promise<void> {
    const message = JSON.stringify({ topic, payload });
    if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES)
      throw new RangeError(
        `Notification on "${topic}" has ${Buffer.byteLength(message)} bytes; the maximum is ${MAX_MESSAGE_BYTES}.`,
      );
    await runner.query('SELECT pg_notify($1, $2)', [NOTIFICATION_CHANNEL, message]);
  }

  /** Makes this server visible to all processes on the database until it exits. */
  async announceServer(): Promise<void> {
    await this.listener.hold(ADVISORY_LOCKS.serverRuns);
  }

  /**
   * Asks every running server and returns the replies, unordered. Resolves when all have replied or after `waitMs`;
   * immediately with none if no server runs.
   */
  async ask(question: string, payload: unknown, waitMs: number): Promise<unknown[]> {
    const expected = await this.runningServers();
    if (expected === 0) return [];
    const id = randomUUID();
    const replies: unknown[] = [];
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const off = this.on(replyTopic(id), (reply) => void (replies.push(reply) === expected && finish()));
    try {
      await this.publish(questionTopic(question), { id, payload } satisfies DatabaseRequest);
      await within(finished, waitMs);
    } finally {
      off();
    }
    return replies;
  }

  /** Registers the handler of a question. Replies are JSON values below 7.9 kB. */
  handle(question: string, handler: (payload: unknown) => unknown): () => void {
    return this.on(questionTopic(question), async (message) => {
      if (isQuestion(message)) await this.publish(replyTopic(message.id), await handler(message.payload));
    });
  }

  private async runningServers(): Promise<number> {
    const { rows } = await this.general.query<{ holders: string }>(COUNT_HOLDERS, [ADVISORY_LOCKS.serverRuns]);
    return Number(rows[0]?.holders);
  }

  private async dispatch(message: string): Promise<void> {
    const { topic, payload } = read(message);
    for (const handler of this.handlers.get(topic) ?? []) await this.guard(() => handler(payload), topic);
  }

  private async guard(handler: () => void | Promise<void>, topic: string): Promise<void> {
    try {
      await handler();
    } catch (error) {
      this.logger.error(`Handler for "${topic}" failed: ${reasonOf(error)}`);
    }
  }
}

const questionTopic = (question: string): string => `ask:${question}`;
const replyTopic = (id: string): string => `answer:${id}`;

/** In `pg_locks`, a single bigint key has its low half in `objid` and `objsubid` 1. */
const COUNT_HOLDERS = `
  SELECT count(*) AS holders FROM pg_locks
   WHERE locktype = 'advisory' AND classid = 0 AND objid = $1::bigint::oid AND objsubid = 1 AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const isQuestion = (message: unknown): message is DatabaseRequest =>
  isJsonObject(message) && typeof message['id'] === 'string';

/** Messages that others send on our channel are treated as having no topic. */
function read(message: string): { topic: string; payload: unknown } {
  try {
    const parsed: unknown = JSON.parse(message);
    return isJsonObject(parsed) ? { topic: String(parsed['topic']), payload: parsed['payload'] } : NO_TOPIC;
  } catch {
    return NO_TOPIC;
  }
}

const NO_TOPIC = { topic: '', payload: undefined };

/** Topics of messages between processes. The sender defines the payload. */
export const TOPICS = {
  /** A key was created or changed. */
  key: 'key',
  /** An account was enabled, disabled or deleted, or its group or limits changed. */
  account: 'account',
  /** A new catalog version: groups, models, prices or channels changed. */
  catalog: 'catalog',
  /** A section of the settings was saved. */
  settings: 'settings',
  /** A cooldown of a channel or credential began or ended. */
  rest: 'rest',
  /** An issuer of tokens was added, changed or deleted. */
  tokenIssuers: 'token-issuers',
  /** Question: which of these variables are missing in a server's environment? */
  environment: 'environment',
  /** Question: does the channel with this name respond? */
  probe: 'probe',
} as const;

/** The ID in a message on `key` or `account`; empty if unreadable. */
export function idIn(payload: unknown): string {
  const { id } = (payload ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : '';
}

/** The only channel; topics are part of the message. */
export const NOTIFICATION_CHANNEL = 'switchboard';

/** A connection that died silently is detected after two beats. */
const BEAT_MS = 5000;

interface ListenerEvents {
  message(message: string): void | Promise<void>;
  /** Listening again after a loss. */
  reconnected(): void;
}

/** A session that listens as long as the process lives, and restores its locks after reconnecting. */
export class Listener {
  private readonly logger = new Logger('Notifications');
  private readonly locks = new Set<number>();
  private readonly session: ReconnectingSession;

  constructor(
    url: string,
    private readonly events: ListenerEvents,
  ) {
    this.session = new ReconnectingSession(url, 'listen', BEAT_MS, {
      prepare: (client) => this.listen(client),
      beat: (client) => client.query('SELECT 1'),
      lost: () =>
        this.logger.warn('Lost the notification connection; caches expire after one second until it is restored.'),
      back: () => {
        this.logger.log('Notification connection restored.');
        this.events.reconnected();
      },
      failed: (error) => this.logger.debug(`Cannot open the notification connection: ${reasonOf(error)}`),
    });
  }

  get connected(): boolean {
    return this.session.connected;
  }

  async start(): Promise<void> {
    await this.session.open();
  }

  /** Holds a shared advisory lock, across reconnects. */
  async hold(lock: number): Promise<void> {
    this.locks.add(lock);
    if (this.session.connected) await this.session.query('SELECT pg_advisory_lock_shared($1)', [lock]);
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  private async listen(client: pg.Client): Promise<void> {
    client.on('notification', ({ payload }) => void this.events.message(payload ?? ''));
    await client.query(`LISTEN ${NOTIFICATION_CHANNEL}`);
    for (const lock of this.locks) await client.query('SELECT pg_advisory_lock_shared($1)', [lock]);
  }
}
