// Fills a relay's log with finished calls: quickly, and as the program would have left them, the ledger included.
import { availableParallelism } from 'node:os';
import type pg from 'pg';
import { boundsOf, makeCalls } from './calls.sql.ts';
import type { Sample } from './catalog.ts';
import { connect, inParallel, type Task } from './database.ts';
import { LoadedMonth, type Span } from './months.ts';

/** A key that calls are made with, and its share of them; all shares come to 1. */
export interface Owner {
  readonly accountId: string;
  readonly keyId: string;
  readonly share: number;
}

export interface SeededLog {
  readonly owners: readonly Owner[];
  readonly samples: readonly Sample[];
  readonly spans: readonly Span[];
}

interface KeySpending {
  readonly account_id: string;
  readonly key_id: string;
  readonly cost: string;
}

/** Of one statement: its calls are in memory until it is done. */
const CALLS_AT_A_TIME = 20_000;

/** Replication's role: no trigger runs for a row that is loaded. Nothing of a seed has to survive a crash. */
const SETTINGS = `SET session_replication_role = replica; SET synchronous_commit = off; SET jit = off;
  SET work_mem = '128MB'; SET maintenance_work_mem = '512MB'; SET max_parallel_maintenance_workers = 0`;

/** What was summed up of calls until now knows nothing of these: the program sums up all of them itself. */
const FORGET_SUMS = `
  DELETE FROM usage_slots; UPDATE usage_watermark SET summed_until = '-infinity';
  DELETE FROM key_uses; UPDATE key_use_sums SET summed_until = '-infinity'`;

/** Nobody may write calls of these months meanwhile. */
export async function seedLog(dataDir: string, log: SeededLog): Promise<void> {
  const sessions = availableParallelism();
  const months = new Map(log.spans.map(({ from }) => [new LoadedMonth(from).name, new LoadedMonth(from)]));
  const session = await connect(dataDir);
  try {
    for (const month of months.values()) await month.begin(session);
    const spent: KeySpending[] = [];
    await inParallel(dataDir, sessions, SETTINGS, loads(log, spent));
    const indexing: Task[] = [];
    for (const month of months.values()) indexing.push(...(await month.indexing(session)));
    await inParallel(dataDir, sessions, SETTINGS, indexing);
    await settle(session, [...months.values()], spent);
    await session.query('VACUUM (ANALYZE)');
    await session.query('CHECKPOINT');
  } finally {
    await session.end();
  }
}

function loads({ owners, samples, spans }: SeededLog, spent: KeySpending[]): readonly Task[] {
  const given = [
    JSON.stringify(samples),
    JSON.stringify(
      owners.map(({ accountId, keyId }, index) => ({ place: index + 1, account_id: accountId, key_id: keyId })),
    ),
    boundsOf(owners.map((owner) => ({ value: owner, share: owner.share }))),
  ];
  return spans.flatMap(inPieces).map((piece, index) => async (session) => {
    const statement = makeCalls(new LoadedMonth(piece.from).tables);
    await session.query('SELECT setseed($1)', [index / 1e6]);
    const { rows } = await session.query<KeySpending>(statement, [
      ...given,
      piece.from,
      piece.to,
      piece.rows,
      `seed ${index} `,
    ]);
    spent.push(...rows);
  });
}

export function inPieces({ from, to, rows }: Span): readonly Span[] {
  const count = Math.ceil(rows / CALLS_AT_A_TIME);
  const at = (piece: number): number => from + Math.floor(((to - from) * piece) / count);
  return Array.from({ length: count }, (_, piece) => ({
    from: at(piece),
    to: at(piece + 1),
    rows: Math.floor((rows * (piece + 1)) / count) - Math.floor((rows * piece) / count),
  }));
}

/** The calls are there, and paid for, at the same moment. */
async function settle(
  session: pg.Client,
  months: readonly LoadedMonth[],
  spent: readonly KeySpending[],
): Promise<void> {
  await session.query('BEGIN');
  for (const month of months) await month.putInPlace(session);
  for (const { account_id, key_id, cost } of spent) {
    await session.query('UPDATE wallets SET balance = balance - $2::bigint WHERE account_id = $1', [account_id, cost]);
    await session.query('UPDATE api_keys SET used = used + $2::bigint WHERE id = $1', [key_id, cost]);
  }
  await session.query(FORGET_SUMS);
  await session.query('COMMIT');
}
