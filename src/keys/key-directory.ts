import { Injectable } from '@nestjs/common';
import type { AccountState } from '../auth/index.js';
import { Batcher, DatabasePools, idIn, Notifications, TOPICS, UNHEARD_CACHE_MS } from '../platform/database/index.js';
import { limitsIn } from '../platform/limits/index.js';
import { Clock, newId } from '../platform/shared/index.js';
import { KeyNotChecked } from './api-key.errors.js';
import { belongsTo, type Caller, type KeyState } from './caller.js';
import { hashSecret, isImportable } from './credentials.js';
import { Networks } from './networks.js';

/** Everything a call needs to know about its key, in one row. */
const SELECT_CALLERS = (keys: string): string => `
  SELECT k.id, k.name, k.state, k.version, k.expires_at, k.account_id, k.member_id, k.models, k.strict, k.never_stores,
         k.secret_hash, k.token_issuer_id, k.networks, k.requests_per_minute, k.tokens_per_minute, k.concurrency,
         a.requests_per_minute AS account_requests_per_minute, a.tokens_per_minute AS account_tokens_per_minute,
         a.concurrency AS account_concurrency, coalesce(k.group_name, a.group_name, 'default') AS group_name,
         a.state AS account_state, m.account_id AS member_account_id,
         m.id IS NULL OR (may_use_keys(m.state, m.role) AND p.state = 'enabled') AS is_member_allowed,
         t.models AS team_models, t.groups AS team_groups, t.networks AS team_networks
    FROM ${keys} k JOIN accounts a ON a.id = k.account_id
    LEFT JOIN members m ON m.id = k.member_id LEFT JOIN accounts p ON p.id = m.account_id
    LEFT JOIN teams t ON t.id = k.team_id`;

const STORED = SELECT_CALLERS('api_keys');
/** A virtual key with ID $2 and default settings. */
const NEW = SELECT_CALLERS(`(SELECT (jsonb_populate_record(NULL::api_keys, jsonb_build_object(
  'id', $2::text, 'account_id', $1::text, 'name', '', 'secret_hash', '', 'state', 'enabled', 'version', 1,
  'strict', false, 'never_stores', false))).*)`);

interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly version: number;
  readonly expires_at: Date | null;
  readonly account_id: string;
  readonly member_id: string | null;
  readonly models: readonly string[] | null;
  readonly strict: boolean;
  readonly never_stores: boolean;
  readonly secret_hash: Buffer;
  readonly token_issuer_id: string | null;
  readonly networks: readonly string[] | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  readonly account_requests_per_minute: number | null;
  readonly account_tokens_per_minute: number | null;
  readonly account_concurrency: number | null;
  readonly account_state: AccountState;
  readonly member_account_id: string | null;
  readonly is_member_allowed: boolean;
  readonly group_name: string;
  readonly team_models: readonly string[] | null;
  readonly team_groups: readonly string[] | null;
  readonly team_networks: readonly string[] | null;
}

/** Reads keys for the hot path, with named statements. */
@Injectable()
export class CallerRepository {
  constructor(private readonly pools: DatabasePools) {}

  /** By position; undefined for unknown hashes. */
  async findByHashes(hashes: readonly Buffer[]): Promise<readonly (Caller | undefined)[]> {
    const text = `${STORED} WHERE k.secret_hash = ANY ($1::bytea[])`;
    const { rows } = await this.pools.admission.query<KeyRow>({ name: 'callers-by-hash', text, values: [hashes] });
    const callers = new Map(rows.map((row) => [row.secret_hash.toString('base64'), callerOf(row)]));
    return hashes.map((hash) => callers.get(hash.toString('base64')));
  }

  /** Unordered; unknown IDs are left out. */
  async findByIds(keyIds: readonly string[]): Promise<readonly Caller[]> {
    const text = `${STORED} WHERE k.id = ANY ($1::text[])`;
    const { rows } = await this.pools.admission.query<KeyRow>({ name: 'callers-by-id', text, values: [keyIds] });
    return rows.map(callerOf);
  }

  /** The caller that a new key with default settings would have. */
  async ofNewKey(accountId: string, keyId: string): Promise<Caller | undefined> {
    const { rows } = await this.pools.general.query<KeyRow>({ text: NEW, values: [accountId, keyId] });
    return rows[0] && callerOf(rows[0]);
  }
}

const callerOf = (row: KeyRow): Caller => ({
  keyId: row.id,
  keyName: row.name,
  keyState: row.state,
  keyVersion: row.version,
  isTokenKey: row.token_issuer_id !== null,
  expiresAt: row.expires_at?.getTime(),
  accountId: row.account_id,
  accountState: row.account_state,
  memberAccountId: row.member_account_id ?? undefined,
  isMemberAllowed: row.is_member_allowed,
  memberId: row.member_id,
  groupName: row.group_name,
  isGroupAllowed: row.team_groups?.includes(row.group_name) ?? true,
  models: modelsOf(row),
  strict: row.strict,
  storesResponses: !row.never_stores,
  networks: networksIn(row.networks),
  teamNetworks: networksIn(row.team_networks),
  keyLimits: limitsIn({
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    concurrency: row.concurrency,
  }),
  accountLimits: limitsIn({
    requestsPerMinute: row.account_requests_per_minute,
    tokensPerMinute: row.account_tokens_per_minute,
    concurrency: row.account_concurrency,
  }),
});

/** The models that both the key and its team allow. */
function modelsOf({ models, team_models: ofTeam }: KeyRow): ReadonlySet<string> | undefined {
  if (models === null || ofTeam === null) return models === ofTeam ? undefined : new Set(models ?? ofTeam);
  return new Set(models.filter((model) => ofTeam.includes(model)));
}

const networksIn = (networks: readonly string[] | null): Networks | undefined =>
  networks === null ? undefined : new Networks(networks);

/**
 * Finds callers by secret, from a cache where possible. Changes of keys and accounts invalidate it in all processes by
 * notification. Only a cache: admission checks the rows themselves.
 */
@Injectable()
export class KeyDirectory {
  private readonly cache = new KeyCache();
  /** Lookups in flight, by hash: concurrent first calls of a key share one query. */
  private pending = new Map<string, Promise<Caller | undefined>>();
  /** One query at a time, however many invalid keys arrive; other connections stay free. */
  private readonly lookups: Batcher<Buffer, Caller | undefined>;
  /** Incremented by every invalidation; results of older queries are not cached. */
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
   * The caller of a secret, in any state; undefined if unknown.
   * @throws KeyNotChecked when the database does not respond
   */
  find(secret: string): Promise<Caller | undefined> {
    // Cannot be one of our keys, so the database is not asked.
    return isImportable(secret) ? this.findByHash(hashSecret(secret)) : Promise.resolve(undefined);
  }

  /** The same for the stored hash. */
  findByHash(hash: Buffer): Promise<Caller | undefined> {
    const name = hash.toString('base64');
    const cached = this.lookUp(name);
    if (cached) return Promise.resolve(cached.caller);
    const pending = this.pending.get(name) ?? this.load(hash, name);
    this.pending.set(name, pending);
    return pending;
  }

  /** The same from the cache alone; also undefined if the secret is not cached. */
  findCached(secret: string): Caller | undefined {
    return isImportable(secret) ? this.findCachedByHash(hashSecret(secret).toString('base64')) : undefined;
  }

  /** @param hash in base64 */
  findCachedByHash(hash: string): Caller | undefined {
    return this.lookUp(hash)?.caller;
  }

  /** Invalidates a key, for example when admission found its version outdated. */
  forget(keyId: string): void {
    this.stale(() => this.cache.forgetKey(keyId));
  }

  /**
   * Reads the caller from the database and invalidates its cache entry; undefined if there is no such key.
   * @throws KeyNotChecked when the database does not respond
   */
  reload(keyId: string): Promise<Caller | undefined> {
    this.forget(keyId);
    return this.read(keyId);
  }

  /** Reads the caller without touching the cache. */
  async read(keyId: string): Promise<Caller | undefined> {
    const [caller] = await this.lookAtAll([keyId]);
    return caller;
  }

  /** Reads callers from the database, unordered; unknown IDs are left out. */
  lookAtAll(keyIds: readonly string[]): Promise<readonly Caller[]> {
    return this.callers.findByIds(keyIds).catch(refuse);
  }

  /** The caller of a new key with default settings; undefined if there is no such account. */
  lookAtNewKeyOf(accountId: string): Promise<Caller | undefined> {
    return this.callers.ofNewKey(accountId, newId('key', this.clock.now())).catch(refuse);
  }

  private lookUp(name: string): CachedKey | undefined {
    return this.cache.get(name, this.clock.now(), this.notifications.connected ? undefined : UNHEARD_CACHE_MS);
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

  /** Results in flight may predate the change: they are neither cached nor shared. */
  private stale(forget: () => void): void {
    forget();
    this.generation += 1;
    this.pending = new Map();
  }
}

function refuse(cause: unknown): never {
  throw new KeyNotChecked(cause);
}

/** Cached result for a hash. No caller: the key is unknown. */
interface CachedKey {
  readonly caller: Caller | undefined;
  /** Unix time in ms. */
  readonly since: number;
}

interface KeyCacheLimits {
  readonly known: number;
  readonly unknown: number;
}

/** Changes arrive as notifications; these bounds cover lost ones. */
const KNOWN_LIVE_MS = 60_000;
const UNKNOWN_LIVE_MS = 30_000;

/**
 * Callers by hash of their secret. Known and unknown hashes are cached separately, each bounded, so that invalid keys
 * cannot evict valid ones. When full, the oldest known entry is evicted, or the older half of the unknown ones, since
 * finding the first entry of a map with many deletions is slow.
 */
export class KeyCache {
  private readonly known = new Map<string, CachedKey>();
  private unknown = new Map<string, CachedKey>();
  private olderUnknown = new Map<string, CachedKey>();

  constructor(private readonly limits: KeyCacheLimits = { known: 50_000, unknown: 20_000 }) {}

  /** @param maxAgeMs older entries are ignored */
  get(hash: string, now: number, maxAgeMs = Infinity): CachedKey | undefined {
    const known = this.known.get(hash);
    const entry = known ?? this.unknown.get(hash) ?? this.olderUnknown.get(hash);
    if (entry === undefined) return undefined;
    const age = now - entry.since;
    return age < Math.min(maxAgeMs, known ? KNOWN_LIVE_MS : UNKNOWN_LIVE_MS) ? entry : undefined;
  }

  put(hash: string, caller: Caller | undefined, now: number): void {
    this.known.delete(hash);
    if (caller) this.putKnown(hash, { caller, since: now });
    else this.putUnknown(hash, { caller, since: now });
  }

  /** A key was added or changed. Its hash is not known here, so all unknown hashes are forgotten. */
  forgetKey(keyId: string): void {
    this.clearUnknown();
    this.forgetWhere((caller) => caller.keyId === keyId);
  }

  /** Also the keys that its user has in organizations. */
  forgetAccount(accountId: string): void {
    this.forgetWhere((caller) => belongsTo(caller, accountId));
  }

  clear(): void {
    this.known.clear();
    this.clearUnknown();
  }

  private putKnown(hash: string, entry: CachedKey): void {
    this.unknown.delete(hash);
    this.olderUnknown.delete(hash);
    const [first] = this.known.keys();
    if (first !== undefined && this.known.size >= this.limits.known) this.known.delete(first);
    this.known.set(hash, entry);
  }

  private putUnknown(hash: string, entry: CachedKey): void {
    if (this.unknown.size >= this.limits.unknown / 2) {
      this.olderUnknown = this.unknown;
      this.unknown = new Map();
    }
    this.unknown.set(hash, entry);
  }

  private clearUnknown(): void {
    this.unknown.clear();
    this.olderUnknown.clear();
  }

  private forgetWhere(applies: (caller: Caller) => boolean): void {
    for (const [hash, { caller }] of this.known) if (caller && applies(caller)) this.known.delete(hash);
  }
}
