/**
 * The keys of every PostgreSQL advisory lock with a fixed meaning, in one place so that no two meet. Below 2^31, so that
 * `pg_locks` shows the key whole in `objid`. Locks on a row's own id (one per process, say) use the two-key form.
 */
export const ADVISORY_LOCKS = {
  /** Held, exclusively, by the connection that migrates. */
  migrations: 718_270_001,
  /** Held, shared, by every process that serves calls, for as long as it listens. */
  serverRuns: 718_270_002,
} as const;
