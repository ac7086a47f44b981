import { Injectable } from '@nestjs/common';
import { Batcher, idIn, Notifications, TOPICS, UNHEARD_CACHE_MS } from '../platform/database/index.js';
import { AppError, Clock, newId } from '../platform/shared/index.js';
import { hashSecret, isImportable } from './api-key.secret.js';
import { CallerRepository } from './caller.repository.js';
import type { Caller } from './caller.js';
import { KeyCache } from './key-cache.js';

/**
 * Who holds a secret. Answers come from memory where they can; a change of a key or an account reaches every process as
 * a notification and takes effect at once. Nothing correct depends on it: admission checks the rows themselves.
 */
@Injectable()
export class KeyDirectory {
  private readonly cache = new KeyCache();
  /** Lookups under way, by hash: many first calls under one key are one query. */
  private pending = new Map<string, Promise<Caller | undefined>>();
  /** One query at a time, whatever number of strangers tries keys; the other connections stay free. */
  private readonly lookups: Batcher<Buffer, Caller | undefined>;
  /** Raised by whatever makes earlier answers stale, those of queries under way included. */
  private generation = 0;

  constructor(
    private readonly callers: CallerRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.lookups = new Batcher((hashes) => this.callers.findByHashes(hashes), {
      maxBatch: 256,
      retryAlone: () => false,
    });
    notifications.on(TOPICS.key, (payload) => this.forget(idIn(payload)));
    notifications.on(TOPICS.account, (payload) => this.stale(() => this.cache.forgetAccount(idIn(payload))));
    notifications.onReconnect(() => this.stale(() => this.cache.clear()));
  }

  /**
   * The caller behind a secret, whatever the state of key and account; undefined when we issued no such key.
   * @throws AppError `unavailable` when the database does not answer
   */
  find(secret: string): Promise<Caller | undefined> {
    // What cannot be a key of ours, made here or taken over, is nothing to ask the database about.
    if (!isImportable(secret)) return Promise.resolve(undefined);
    const hash = hashSecret(secret);
    const name = hash.toString('base64');
    const cached = this.cache.get(name, this.clock.now(), this.notifications.connected ? undefined : UNHEARD_CACHE_MS);
    if (cached) return Promise.resolve(cached.caller);
    const pending = this.pending.get(name) ?? this.load(hash, name);
    this.pending.set(name, pending);
    return pending;
  }

  /** Drops what is known of a key, as when admission found its version outdated. */
  forget(keyId: string): void {
    this.stale(() => this.cache.forgetKey(keyId));
  }

  /**
   * The caller as its row says now; undefined when there is no such key. What was cached of it is dropped.
   * @throws AppError `unavailable` when the database does not answer
   */
  reload(keyId: string): Promise<Caller | undefined> {
    this.forget(keyId);
    return this.look(keyId);
  }

  /** The same of a key that nobody has sent: what is cached of it stays. */
  async look(keyId: string): Promise<Caller | undefined> {
    const [caller] = await this.lookAtAll([keyId]);
    return caller;
  }

  /** Callers as their rows say now, in no order; ids of no key are left out. */
  lookAtAll(keyIds: readonly string[]): Promise<readonly Caller[]> {
    return this.callers.findByIds(keyIds).catch(refuse);
  }

  /** Who would call with a new key of the account, one with no settings of its own; undefined when there is no account. */
  lookAtNewKeyOf(accountId: string): Promise<Caller | undefined> {
    return this.callers.ofNewKey(accountId, newId('key', this.clock.now())).catch(refuse);
  }

  private async load(hash: Buffer, name: string): Promise<Caller | undefined> {
    const { generation, pending } = this;
    try {
      const caller = await this.lookups.submit(hash);
      if (generation === this.generation) this.cache.put(name, caller, this.clock.now());
      return caller;
    } catch (error) {
      return refuse(error);
    } finally {
      pending.delete(name);
    }
  }

  /** Answers that are still on their way may be from before the change: they are neither kept nor shared any further. */
  private stale(forget: () => void): void {
    forget();
    this.generation += 1;
    this.pending = new Map();
  }
}

function refuse(cause: unknown): never {
  throw new AppError(
    'unavailable',
    'The API key could not be checked because the database is not responding. Retry shortly.',
    { retryAfterSeconds: 1 },
    { cause },
  );
}
