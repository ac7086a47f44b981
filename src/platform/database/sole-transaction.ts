import type { DataSource, EntityManager } from 'typeorm';

/**
 * Does the work in a transaction that holds this lock, so that one process at a time is at it.
 * @param lock of ADVISORY_LOCKS
 * @returns what the work gives; undefined, and it was not begun, while another transaction holds the lock
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
