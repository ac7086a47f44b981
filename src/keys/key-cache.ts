import type { Caller } from './caller.js';

/** What is remembered of a hash. No caller: we issued no such key. */
interface CachedKey {
  readonly caller: Caller | undefined;
  /** Milliseconds since 1970. */
  readonly since: number;
}

interface KeyCacheLimits {
  readonly known: number;
  readonly unknown: number;
}

/** A change reaches the cache as a notification; these are for the day one is lost. */
const KNOWN_LIVE_MS = 60_000;
const UNKNOWN_LIVE_MS = 30_000;

/**
 * Callers by the hash of their secret, for speed alone. Known and unknown hashes are kept apart, each bounded, so that
 * strangers who try keys cannot push out those of customers. When full, the known one that was added first goes; of the
 * unknown ones the older half, since finding the first entry of a map where most of them are dropped again is slow.
 */
export class KeyCache {
  private readonly known = new Map<string, CachedKey>();
  private unknown = new Map<string, CachedKey>();
  private olderUnknown = new Map<string, CachedKey>();

  constructor(private readonly limits: KeyCacheLimits = { known: 50_000, unknown: 20_000 }) {}

  /** @param maxAgeMs what is older than this is not believed, whatever its usual life */
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

  /** A key was added or changed. Which hash it has is not known here, so no hash counts as unknown any more. */
  forgetKey(keyId: string): void {
    this.clearUnknown();
    this.forgetWhere((caller) => caller.keyId === keyId);
  }

  forgetAccount(accountId: string): void {
    this.forgetWhere((caller) => caller.accountId === accountId);
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
