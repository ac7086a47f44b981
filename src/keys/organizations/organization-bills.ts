import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Nanos, nanos, ZERO } from '../../platform/shared/index.js';

/** A part of what an organization was charged. */
export interface BillPart {
  /** Of the member or team; undefined: service keys, or calls outside of teams. */
  readonly id: string | undefined;
  /** Of teams, and of members who gave one; else their email address. */
  readonly name: string;
  /** Whether the member left, or the team was deleted. */
  readonly isFormer: boolean;
  readonly amount: Nanos;
}

/** What the calls of an organization cost in a period, most expensive part first. The parts of each list sum to `total`. */
export interface Bill {
  readonly total: Nanos;
  readonly members: readonly BillPart[];
  readonly teams: readonly BillPart[];
}

/** Entries of a period by their ID, which starts with the time of the settlement in ms. */
const IN_PERIOD = `entry_id >= 'led_' || lpad(to_hex($2::bigint), 12, '0') AND entry_id < 'led_' || lpad(to_hex($3::bigint), 12, '0')`;

const TOTAL = `
  SELECT coalesce(-sum(l.amount), 0) AS amount
    FROM ledger_lines l JOIN ledger_entries e ON e.id = l.entry_id AND e.kind = 'calls'
   WHERE l.ledger_account = 'wallet:' || $1 AND ${IN_PERIOD}`;

/** Calls with service keys outside of teams have no part: they are what is left of the total. */
const PARTS = `
  SELECT member_id AS "memberId", team_id AS "teamId", -sum(amount) AS amount
    FROM ledger_line_parts WHERE account_id = $1 AND ${IN_PERIOD} GROUP BY member_id, team_id`;

const NAMES = `
  SELECT m.id, coalesce(nullif(a.name, ''), CASE WHEN a.state = 'deleted' THEN 'Deleted user' ELSE a.email END) AS name,
         m.state <> 'active' AS "isFormer"
    FROM members m JOIN accounts a ON a.id = m.account_id WHERE m.id = ANY ($1::text[])
  UNION ALL
  SELECT id, name, state <> 'enabled' FROM teams WHERE id = ANY ($1::text[])`;

interface PartRow {
  readonly memberId: string;
  readonly teamId: string;
  readonly amount: string;
}

type NameRow = Pick<BillPart, 'name' | 'isFormer'> & { readonly id: string };

/** Bills of organizations by member and team, from the ledger: to the nano what left the wallet. */
@Injectable()
export class OrganizationBills {
  constructor(private readonly dataSource: DataSource) {}

  /** Of calls that were settled in `from <= time < to`. */
  of(organizationId: string, from: Date, to: Date): Promise<Bill> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const period = [organizationId, from.getTime(), to.getTime()];
      const [sum] = await manager.query<{ amount: string }[]>(TOTAL, period);
      const rows = await manager.query<PartRow[]>(PARTS, period);
      const ids = rows.flatMap(({ memberId, teamId }) => [memberId, teamId]);
      const names = await manager.query<NameRow[]>(NAMES, [ids]);
      const total = nanos(BigInt(sum?.amount ?? 0));
      const known = new Map(names.map((row) => [row.id, row]));
      return {
        total,
        members: partsOf(total, amountsBy(rows, 'memberId'), known, 'Service keys'),
        teams: partsOf(total, amountsBy(rows, 'teamId'), known, 'Without a team'),
      };
    });
  }
}

function amountsBy(rows: readonly PartRow[], by: 'memberId' | 'teamId'): ReadonlyMap<string, Nanos> {
  const amounts = new Map<string, Nanos>();
  for (const row of rows) amounts.set(row[by], nanos((amounts.get(row[by]) ?? ZERO) + BigInt(row.amount)));
  return amounts;
}

/** @param rest name of what belongs to nobody */
function partsOf(
  total: Nanos,
  amounts: ReadonlyMap<string, Nanos>,
  names: ReadonlyMap<string, NameRow>,
  rest: string,
): readonly BillPart[] {
  const parts: BillPart[] = [];
  let left = total;
  for (const [id, amount] of amounts) {
    if (id === '') continue;
    const { name = id, isFormer = true } = names.get(id) ?? {};
    parts.push({ id, name, isFormer, amount });
    left = nanos(left - amount);
  }
  if (left !== ZERO) parts.push({ id: undefined, name: rest, isFormer: false, amount: left });
  return parts.toSorted((one, other) => Number(other.amount - one.amount) || one.name.localeCompare(other.name));
}
