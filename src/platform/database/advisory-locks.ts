/**
 * Keys of all advisory locks with a fixed meaning. Below 2^31, so that `pg_locks` shows the whole key in `objid`. Locks
 * on a row use two keys: the kind of row, and `hashtext` of its ID.
 */
export const ADVISORY_LOCKS = {
  /** Exclusive: held by the connection that migrates. */
  migrations: 718_270_001,
  /** Shared: held by every serving process while it listens. */
  serverRuns: 718_270_002,
  /** Exclusive: held while the calls of dead processes are closed. */
  sweep: 718_270_003,
  /** First of two keys, shared: held by every process that admits calls, with its own ID. */
  process: 718_270_004,
  /** Exclusive: held by a transaction that adds late calls to rollups; taken by a trigger. */
  lateUsage: 718_270_005,
  /** Exclusive: held by the transaction that drops a month of calls. */
  retention: 718_270_006,
  /** Exclusive: held by the transaction that rolls up calls. */
  rollup: 718_270_007,
  /** Exclusive: held by the transaction that checks alert thresholds. */
  alerts: 718_270_011,
  /** Exclusive: held by the transaction that renews an account's allowance. */
  allowances: 718_270_012,
  /** First of two keys, exclusive: held by a transaction that applies an event of one payment, with its name. */
  payment: 718_270_013,
  /** Exclusive: held by the transaction that checks how keys are used. */
  keyWatch: 718_270_014,
} as const;
