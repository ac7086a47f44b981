// A relay whose log is full: started as shipped, set up with the operator's commands, filled by SQL.
import { statfsSync } from 'node:fs';
import { pinTree } from '../machine/cores.ts';
import type { Stage } from '../stage.ts';
import { runCommand } from '../subjects/operator.ts';
import type { RelaySubject } from '../subjects/relay.ts';
import { applyCatalog, takeSamples } from './catalog.ts';
import { type Owner, seedLog } from './log.ts';
import type { Span } from './months.ts';
import type { WeightedValue } from './world.ts';

export interface Person {
  readonly email: string;
  readonly password: string;
}

/** An account and its keys by name, with the share of its calls. */
export interface SeededAccount extends Person {
  readonly keys: readonly WeightedValue[];
}

export interface SeedResult {
  /** The ids of the keys by their names, of all spenders together. */
  readonly keys: ReadonlyMap<string, string>;
  readonly seconds: number;
}

/** Of disk for each call: its row, its attempts, its part of the ledger, all indexes, and room for the load. */
const BYTES_A_CALL = 2600;

/** As much as nobody can spend. */
const CREDIT = '100000000';

export const PASSWORD = 'violet kettle umbrella';

/**
 * Makes the accounts and keys and so many calls of each account, all alike. The ledger is exact afterwards.
 * @throws when the disk has no room for it, before anything is written
 */
export async function fill(
  stage: Stage,
  { dataDir, target, databasePid, email }: RelaySubject,
  spenders: readonly SeededAccount[],
  spans: readonly Span[],
): Promise<SeedResult> {
  const { surroundings } = stage;
  makeSure(dataDir, spans);
  await applyCatalog(dataDir, surroundings);
  const samples = await takeSamples(dataDir, target.origin, email, surroundings);
  const owners: Owner[] = [];
  const keys = new Map<string, string>();
  for (const spender of spenders) {
    const accountId = await createAccount(dataDir, spender, ['--credit', CREDIT]);
    for (const { value: name, share } of spender.keys) {
      const keyId = await idFrom(dataDir, 'key', 'create', '--email', spender.email, '--name', name);
      keys.set(name, keyId);
      owners.push({ accountId, keyId, share: share / spenders.length });
    }
  }
  const begunAt = performance.now();
  // Whoever is not measured yet may use all of the machine.
  const { cores } = surroundings;
  if (cores && databasePid !== undefined) pinTree(databasePid, cores.all);
  await seedLog(dataDir, { owners, samples, spans });
  const seconds = (performance.now() - begunAt) / 1000;
  await runCommand(dataDir, 'ledger', 'check');
  if (cores && databasePid !== undefined) pinTree(databasePid, cores.others);
  return { keys, seconds };
}

/** @returns its id */
export function createAccount(dataDir: string, { email, password }: Person, more: readonly string[]): Promise<string> {
  return idFrom(dataDir, 'account', 'create', '--email', email, '--password', password, '--verified', ...more);
}

async function idFrom(dataDir: string, ...command: readonly string[]): Promise<string> {
  const { id } = JSON.parse(await runCommand(dataDir, ...command, '--json')) as { readonly id: string };
  return id;
}

function makeSure(dataDir: string, spans: readonly Span[]): void {
  const needed = spans.reduce((sum, { rows }) => sum + rows * BYTES_A_CALL, 0);
  const { bavail, bsize } = statfsSync(dataDir);
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  if (needed > bavail * bsize)
    throw new Error(
      `The log takes ${gigabytes(needed)} of disk, and ${dataDir} has ${gigabytes(bavail * bsize)} left.`,
    );
  console.error(`… filling the log, which takes up to ${gigabytes(needed)} of disk at ${dataDir}`);
}
