import { randomUUID } from 'node:crypto';
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, monotonicMs } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { processIdentity } from '../process-identity.js';
import { readJsonFile } from './state-file.js';

const WAIT_MS = 120_000;
const POLL_MS = 20;

interface Holder {
  readonly pid: number;
  readonly identity: string;
}

/**
 * Runs `work` exclusively among all processes that use this lock file. The file names its holder by pid and start time;
 * that of a dead process is taken over.
 * @throws DatabaseUnusable when a living process holds it for two minutes
 */
export async function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const deadline = monotonicMs() + WAIT_MS;
  const claim = `${file}.${randomUUID()}`;
  // Written completely before it is linked, so that readers never see a partial name.
  writeFileSync(claim, JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid) }), { mode: 0o600 });
  try {
    while (!tryTake(file, claim)) {
      if (monotonicMs() > deadline) throw heldTooLong(file);
      await sleep(POLL_MS);
    }
  } finally {
    rmSync(claim, { force: true });
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Synchronous, so that a dead holder is replaced within microseconds. */
function tryTake(file: string, claim: string): boolean {
  if (tryLink(claim, file)) return true;
  if (isAlive(holderOf(file))) return false;
  // Of those who see the same dead holder, one removes its file; without this, a slow process could remove a fresh
  // lock.
  const takeover = `${file}.takeover`;
  if (!tryLink(claim, takeover)) {
    if (!isAlive(holderOf(takeover))) rmSync(takeover, { force: true });
    return false;
  }
  try {
    if (isAlive(holderOf(file))) return false;
    rmSync(file, { force: true });
    return tryLink(claim, file);
  } finally {
    rmSync(takeover, { force: true });
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined if the file is missing or unreadable. */
function holderOf(file: string): Holder | undefined {
  const { pid, identity } = readJsonFile(file) ?? {};
  return typeof pid === 'number' && typeof identity === 'string' ? { pid, identity } : undefined;
}

const isAlive = (holder: Holder | undefined): boolean =>
  holder !== undefined && processIdentity(holder.pid) === holder.identity;

function heldTooLong(file: string): DatabaseUnusable {
  const holder = holderOf(file);
  return new DatabaseUnusable(
    `Process ${holder?.pid ?? 'unknown'} has been starting or stopping the embedded database for two minutes (${file}). Check or stop that process.`,
  );
}
