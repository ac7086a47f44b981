import { readFileSync } from 'node:fs';
import { processIdentity } from '../../src/platform/database/process-identity.js';
import { eventually, TIMEOUT_MS } from './eventually.js';

export const isAlive = (pid: number): boolean => processIdentity(pid) !== undefined;

/** Linux only. */
export const childrenOf = (pid = 0): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

export const untilGone = (pid: number): Promise<void> =>
  eventually(() => expect([pid, isAlive(pid)]).toEqual([pid, false]), TIMEOUT_MS);
