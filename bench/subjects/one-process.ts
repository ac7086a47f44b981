// What is the same of every subject that is one process and has no database.
import type { ChildProcess } from 'node:child_process';
import { end, pidOf } from '../machine/child.ts';
import type { ProbeClient } from '../probe/client.ts';
import type { Subject } from './subject.ts';

export const oneProcess = (
  child: ChildProcess,
  probe: ProbeClient | undefined,
): Pick<Subject, 'pid' | 'databasePid' | 'probe' | 'stop'> => ({
  pid: pidOf(child),
  databasePid: undefined,
  probe,
  async stop() {
    await end(child);
    probe?.remove();
  },
});
