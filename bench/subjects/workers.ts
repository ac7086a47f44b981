// The relay with two workers: a primary that has the port and the database, and two processes that serve.
import { treeOf } from '../machine/cpu.ts';
import { until } from '../machine/child.ts';
import { startRelay } from './relay.ts';
import { AS_SHIPPED, type Subject, type SubjectContext } from './subject.ts';

const WORKERS = 2;

export async function startWorkers(surroundings: SubjectContext, extras = AS_SHIPPED): Promise<Subject> {
  const relay = await startRelay(surroundings, {
    ...extras,
    environment: { ...extras.environment, WORKERS: String(WORKERS) },
  });
  const { pid = 0, databasePid = 0 } = relay;
  // The database is a child of whoever started it.
  const database = new Set(treeOf(databasePid));
  const served = (): readonly number[] => treeOf(pid).filter((member) => member !== pid && !database.has(member));
  const workerPids = await until(() => {
    const pids = served();
    return pids.length === WORKERS || pids.length === 0 ? pids : undefined;
  }, 'all workers run');
  return { ...relay, name: 'workers', workerPids };
}
