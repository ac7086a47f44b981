/** What must hold of the books when nobody calls any more. */

import { eventually } from '../support/eventually.js';
import type { Program } from './program.js';

/** A process that was killed is swept within that time, and what waited for the database is settled. */
const SETTLED_MS = 120_000;

interface CallCost {
  readonly id: string;
  readonly status: string;
  readonly cost: string;
}

export interface Books {
  readonly rows: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** What is not as it must be. */
  readonly wrong: readonly string[];
}

/** @param whole what each response that a client saw to its end must have cost, by its id, in nanos */
export async function checkBooks(program: Program, whole: ReadonlyMap<string, bigint>): Promise<Books> {
  const wrong: string[] = [];
  const check = async (what: string, work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => wrong.push(`${what}: ${String(error)}`));
  };
  await check('holds', () => eventually(() => requireNothingHeld(program), SETTLED_MS));
  await check('ledger', async () => {
    const said = await program.command('ledger', 'check');
    if (said !== 'ledger exact\n') throw new Error(said);
  });
  const rows = await program.query<CallCost>('SELECT id, status, cost::text FROM calls');
  wrong.push(...differences(rows, whole));
  return { rows: rows.length, statuses: counted(rows), wrong };
}

async function requireNothingHeld(program: Program): Promise<void> {
  const [left] = await program.query<Record<string, string>>(
    `SELECT (SELECT count(*) FROM open_calls) AS open, (SELECT sum(held) FROM wallets) AS held,
            (SELECT sum(held) FROM api_keys) AS held_of_keys, (SELECT count(*) FROM settlement_failures) AS failures`,
  );
  if (Object.values(left ?? {}).some((value) => Number(value) !== 0)) throw new Error(JSON.stringify(left));
}

function differences(rows: readonly CallCost[], whole: ReadonlyMap<string, bigint>): string[] {
  const wrong: string[] = [];
  const found = new Map<string, CallCost>();
  for (const row of rows) {
    if (found.has(row.id)) wrong.push(`${row.id} has two rows`);
    found.set(row.id, row);
  }
  for (const [id, cost] of whole) {
    const row = found.get(id);
    if (row?.status !== 'succeeded' || BigInt(row.cost) !== cost)
      wrong.push(`${id} was answered and costs ${cost}, but its row is ${JSON.stringify(row)}`);
  }
  return wrong;
}

function counted(rows: readonly CallCost[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of rows) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
