import { isRefused, resultOf } from '../calls/recorded-call.js';
import type { Query } from '../time-limited-reads.js';
import type { Span } from '../rollups/traffic-reader.js';
import { type CallOwner, ownedBy, Parameters } from '../usage-filter.js';
import { wholeBuckets } from '../rollups/usage-days.js';

/** Names used by an account's finished calls in a period, sorted. */
interface UsedNames {
  /** Without names that clients made up: those of no model, of which all calls were refused. */
  readonly models: readonly string[];
  readonly groups: readonly string[];
}

/** Max names of each kind. */
const MAX_NAMES = 500;
/** Max index lookups: clients can use any number of unknown model names. Beyond it, names are missing. */
const MAX_LOOKUPS = 2000;

/** The condition of the partial index `usage_slots_by_name`. */
const NAMED = `s.account_id <> '' AND s.level IN ('model', 'group', 'few')`;

/**
 * For whole 15-minute buckets: a skip scan finds each name in the index and whether it was used in the period. Takes
 * time per name, not per bucket.
 */
export async function usedNames(query: Query, { from, to, ...owner }: Span & CallOwner): Promise<UsedNames> {
  const parameters = new Parameters();
  const [begin, end] = [parameters.time(from), parameters.time(to)];
  const sql =
    owner.memberId === undefined
      ? namesSql(parameters.add(owner.accountId), begin, end)
      : memberNamesSql(ownedBy('c', owner, parameters), begin, end);
  const rows = await query<{ kind: keyof UsedNames; name: string }>(sql, parameters.values);
  const named = (kind: keyof UsedNames): string[] => rows.filter((row) => row.kind === kind).map(({ name }) => name);
  return { models: named('models'), groups: named('groups') };
}

/** The same for a member: rollups have none. */
const memberNamesSql = (owned: string, from: string, to: string): string => `
    WITH used AS MATERIALIZED (
      SELECT c.model, c.group_name, NOT ${isRefused(resultOf('c'))} AS is_served FROM calls c
       WHERE ${owned} AND c.created_at >= ${from} AND c.created_at < ${to}
    ) ${LISTS}`;

const list = (kind: keyof UsedNames, column: string, condition = ''): string =>
  `(SELECT DISTINCT '${kind}' AS kind, ${column} AS name FROM used
     WHERE ${column} <> ''${condition} ORDER BY 2 LIMIT ${MAX_NAMES})`;

/** Reads the CTE "used". */
const LISTS = `${list('models', 'model', ' AND (is_served OR model IN (SELECT m.name FROM models m))')}
  UNION ALL ${list('groups', 'group_name')} ORDER BY 1, 2`;

function namesSql(account: string, from: string, to: string): string {
  const next = (count: string, behind: string): string => `
        SELECT s.level, s.model, s.group_name, ${count} AS count FROM usage_slots s WHERE s.account_id = ${account} AND ${NAMED}${behind}
         ORDER BY s.level, s.model, s.group_name LIMIT 1`;
  const fromCalls = (bounds: string): string =>
    `SELECT c.model, c.group_name, NOT ${isRefused(resultOf('c'))} FROM calls c WHERE c.account_id = ${account} AND ${bounds}`;
  const inBuckets = `SELECT FROM usage_slots s
         WHERE s.account_id = ${account} AND ${NAMED}
           AND s.level = n.level AND s.model = n.model AND s.group_name = n.group_name
           AND s.slot >= buckets.begin AND s.slot < buckets."end"`;
  return `
    WITH RECURSIVE ${wholeBuckets(from, to)}, names AS (
      (${next('1', '')}
      )
       UNION ALL
      SELECT n.* FROM names m CROSS JOIN LATERAL (
        ${next('m.count + 1', ' AND (s.level, s.model, s.group_name) > (m.level, m.model, m.group_name)')}) n
       WHERE m.count < ${MAX_LOOKUPS}
    ), used (model, group_name, is_served) AS (
      SELECT n.model, n.group_name, EXISTS (${inBuckets} AND NOT ${isRefused('s.result')})
        FROM names n CROSS JOIN buckets CROSS JOIN LATERAL (
        -- A limit, so that this is asked of each name by itself.
        ${inBuckets} LIMIT 1) s
       UNION ALL ${fromCalls(`c.created_at >= ${from} AND c.created_at < least(${to}, (SELECT begin FROM buckets))`)}
       UNION ALL ${fromCalls(`c.created_at >= (SELECT "end" FROM buckets) AND c.created_at < ${to}`)}
    )
    ${LISTS}`;
}
