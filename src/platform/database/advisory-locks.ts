/**
 * The keys of every PostgreSQL advisory lock with a fixed meaning, in one place so that no two meet. Below 2^31, so that
 * `pg_locks` shows the key whole in `objid`. Locks on a row's own id use the form with two keys: what kind of row, and
 * `hashtext` of its id.
 */
export const ADVISORY_LOCKS = {
  /** Held, exclusively, by the connection that migrates. */
  migrations: 718_270_001,
  /** Held, shared, by every process that serves calls, for as long as it listens. */
  serverRuns: 718_270_002,
  /** Held, exclusively, by whoever closes the calls of processes that died, while it does. */
  sweep: 718_270_003,
  /** The first of two keys: held, shared, by every process that admits calls, on its own id. */
  process: 718_270_004,
  /** Held, exclusively, by a transaction that adds late calls to what is summed up; a trigger takes it. */
  lateUsage: 718_270_005,
  /** Held, exclusively, by the transaction that drops a month of calls. */
  retention: 718_270_006,
  /** Held, exclusively, by the transaction that sums up calls in the background. */
  rollup: 718_270_007,
  /** Held, exclusively, by the transaction that looks whose thresholds are crossed. */
  alerts: 718_270_011,
  /** Held, exclusively, by the transaction that turns the monthly allowance of an account. */
  allowances: 718_270_012,
  /** The first of two keys: held, exclusively, by a transaction that does what was told of one payment, on its name. */
  payment: 718_270_013,
  /** Held, exclusively, by the transaction that looks at what keys were used for. */
  keyWatch: 718_270_014,
} as const;
