import type { DataSource, EntityManager } from 'typeorm';

/**
 * Runs `work` in a transaction that holds an advisory lock.
 * @param lock of ADVISORY_LOCKS
 * @returns the result of `work`; undefined, without running it, if another transaction holds the lock
 */
export function soleTransaction<T>(
  dataSource: DataSource,
  lock: number,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T | undefined> {
  return dataSource.transaction(async (manager) => {
    const [row] = await manager.query<{ ours: boolean }[]>('SELECT pg_try_advisory_xact_lock($1) AS ours', [lock]);
    return row?.ours === true ? work(manager) : undefined;
  });
}
