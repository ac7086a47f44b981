import { processIdentity } from '../../src/platform/database/process-identity.js';
import { eventually, TIMEOUT_MS } from './eventually.js';

export const isAlive = (pid: number): boolean => processIdentity(pid) !== undefined;

export const untilGone = (pid: number): Promise<void> =>
  eventually(() => expect([pid, isAlive(pid)]).toEqual([pid, false]), TIMEOUT_MS);
