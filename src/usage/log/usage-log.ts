import { Injectable } from '@nestjs/common';
import {
  type CallColumn,
  finishedColumns,
  MEMBER_NAME,
  readCall,
  type RecordedCall,
  runningColumns,
  type StoredCall,
} from '../calls/recorded-call.js';
import { rollupsOf } from '../rollups/usage-chart.js';
import { bucketAt, ROLLED_UP_UNTIL } from '../rollups/usage-days.js';
import type { Query } from '../time-limited-reads.js';
import { conditions, ofFinished, Parameters, type UsageFilter } from '../usage-filter.js';

/** Columns of a row of the log. */
const LOGGED = [
  'id',
  'createdAt',
  'model',
  'group',
  'keyId',
  'memberId',
  'protocol',
  'channel',
  'stream',
  'result',
  'errorReason',
  'errorMessage',
  'promptTokens',
  'cachedTokens',
  'completionTokens',
  'reasoningTokens',
  'cost',
  'firstTokenMs',
  'durationMs',
  'attempts',
] as const satisfies readonly CallColumn[];

export interface LoggedCall extends Pick<RecordedCall, (typeof LOGGED)[number]> {
  /** Current name of the key; empty: none. */
  readonly key: string;
  /** Of an organization; empty: none. */
  readonly member: string;
}

export interface LogPage {
  /** Newest first. */
  readonly calls: readonly LoggedCall[];
  /** Cursors of the neighboring pages; undefined: none. */
  readonly newer: LogPosition | undefined;
  readonly older: LogPosition | undefined;
}

interface LogRow extends StoredCall<(typeof LOGGED)[number]> {
  readonly id: string;
  readonly key: string;
  readonly member: string;
  readonly position: string;
  /** Of a sorted page. */
  readonly sortValue?: string;
}

const FINISHED = `SELECT c.created_at, ${finishedColumns(LOGGED)} FROM calls c`;
/** Settled calls may still have an open row until their hold is released; they count as finished. */
const OPEN = `SELECT c.created_at, ${runningColumns(LOGGED)} FROM open_calls c`;
const STILL_OPEN = 'NOT EXISTS (SELECT FROM calls t WHERE t.id = c.id AND t.created_at = c.created_at)';

/** Properties that the log can be sorted by, highest first. */
export const LOG_SORTS = ['cost', 'duration', 'tokens'] as const;
export type LogSort = (typeof LOG_SORTS)[number];

/** Not null, so that rows can be compared with a position; calls without a value come last. */
const SORTED_BY: Readonly<Record<LogSort, string>> = {
  cost: 'coalesce(c.cost, -1)',
  duration: 'coalesce(c.duration_ms, -1)::bigint',
  tokens: 'coalesce(c.prompt_tokens, 0) + coalesce(c.completion_tokens, 0)',
};

/** The log of finished and running calls, with keyset pagination. */
@Injectable()
export class UsageLog {
  /**
   * @param size max rows
   * @param sort default: newest first. Sorting reads all calls of the filter, and leaves out running ones
   */
  async page(query: Query, filter: UsageFilter, start: LogStart, size: number, sort?: LogSort): Promise<LogPage> {
    // Running calls have no upstream to filter by yet.
    if (filter.result === 'open' && ofFinished(filter)) return { calls: [], newer: undefined, older: undefined };
    const backwards = start !== undefined && 'after' in start;
    const parameters = new Parameters();
    const sql =
      sort === undefined || filter.result === 'open'
        ? pageSql(filter, start, size + 1, parameters)
        : sortedSql(filter, start, size + 1, sort, parameters);
    const rows = await query<LogRow>(sql, parameters.values);
    const more = rows.length > size;
    const shown = rows.slice(0, size);
    if (backwards) shown.reverse();
    const [first, last] = [shown.at(0), shown.at(-1)];
    return {
      calls: shown.map(loggedCall),
      newer: first && (backwards ? more : start !== undefined) ? place(first) : undefined,
      older: last && (backwards || more) ? place(last) : undefined,
    };
  }
}

/** The time of a row with all digits. */
const POSITION = `to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const NAMES = `coalesce(k.name, '') AS key, coalesce(${MEMBER_NAME}, '') AS member`;
const NAMED = `
      LEFT JOIN api_keys k ON k.id = c."keyId"
      LEFT JOIN members m ON m.id = c."memberId" LEFT JOIN accounts p ON p.id = m.account_id`;

function pageSql(filter: UsageFilter, start: LogStart, limit: number, parameters: Parameters): string {
  const backwards = start !== undefined && 'after' in start;
  const order = backwards ? 'ASC' : 'DESC';
  const bounds = boundsOf(filter, start, parameters);
  const cut = `ORDER BY created_at ${order}, id ${order} LIMIT ${parameters.add(limit, 'integer')}`;
  const { result, ...alike } = filter;
  const matching = result === 'open' ? undefined : matchingBuckets(filter, start, limit, parameters);
  const branches = [
    ...(result === 'open'
      ? []
      : finishedBranches(`${FINISHED}${bounds}${conditions(filter, parameters)}`, cut, matching !== undefined)),
    ...((result === undefined || result === 'open') && !ofFinished(filter)
      ? [`(${OPEN}${bounds}${conditions(alike, parameters)} AND ${STILL_OPEN} ${cut})`]
      : []),
  ];
  return `${matching === undefined ? '' : `WITH ${matching}`}
    SELECT c.*, ${NAMES}, ${POSITION} AS position
      FROM (SELECT * FROM (${branches.join(' UNION ALL ')}) u ${cut}) c
      ${NAMED}
     ORDER BY c.created_at ${order}, c.id ${order}`;
}

function sortedSql(filter: UsageFilter, start: LogStart, limit: number, sort: LogSort, parameters: Parameters): string {
  const order = start !== undefined && 'after' in start ? 'ASC' : 'DESC';
  return `
    SELECT c.*, ${NAMES}, ${POSITION} AS position
      FROM (SELECT c.created_at, ${SORTED_BY[sort]} AS "sortValue", ${finishedColumns(LOGGED)} FROM calls c
            ${boundsOf(filter, undefined, parameters)}${conditions(filter, parameters)}
            ${beyondSorted(start, sort, parameters)}
             ORDER BY 2 ${order}, 1 ${order}, c.id ${order} LIMIT ${parameters.add(limit, 'integer')}) c
      ${NAMED}
     ORDER BY "sortValue" ${order}, c.created_at ${order}, c.id ${order}`;
}

function beyondSorted(start: LogStart, sort: LogSort, parameters: Parameters): string {
  if (start === undefined) return '';
  const [sign, [at, id, value = '0']] =
    'after' in start ? (['>', start.after] as const) : (['<', start.before] as const);
  const position = [parameters.add(value, 'bigint'), parameters.time(at), parameters.add(id)].join(', ');
  return ` AND (${SORTED_BY[sort]}, c.created_at, c.id) ${sign} (${position})`;
}

/** For filters that rollups know: the calls of matching 15-minute buckets, and all calls not rolled up yet. */
const finishedBranches = (finished: string, cut: string, isMatched: boolean): string[] =>
  isMatched
    ? [
        `(SELECT f.* FROM matching m CROSS JOIN LATERAL (
            ${finished} AND c.created_at >= m.slot AND c.created_at < m.slot + interval '15 minutes' ${cut}) f ${cut})`,
        `(${finished} AND c.created_at >= ${ROLLED_UP_UNTIL} ${cut})`,
      ]
    : [`(${finished} ${cut})`];

const boundsOf = ({ from, to }: UsageFilter, start: LogStart, parameters: Parameters): string =>
  ` WHERE c.created_at >= ${parameters.time(from)} AND c.created_at < ${parameters.time(to)}${beyond(start, parameters)}`;

/** A page begins after the last row of the previous one, whatever was added meanwhile. */
function beyond(start: LogStart, parameters: Parameters): string {
  if (start === undefined) return '';
  const [sign, [at, id]] = 'after' in start ? (['>', start.after] as const) : (['<', start.before] as const);
  return ` AND (c.created_at, c.id) ${sign} (${parameters.time(at)}, ${parameters.add(id)})`;
}

const place = ({ position, id, sortValue }: LogRow): LogPosition =>
  sortValue === undefined ? [position, id] : [position, id, sortValue];

const loggedCall = (row: LogRow): LoggedCall => ({ ...readCall(row, LOGGED), key: row.key, member: row.member });

/** Dropped calls remain in rollups but are not listed. */
const KEPT_FROM = `(SELECT coalesce((max(month) + interval '1 month') AT TIME ZONE 'UTC', '-infinity') FROM dropped_calls)`;

/**
 * The CTE "matching": 15-minute buckets with calls that match the filter, as many as a page needs. So a page of a rare
 * model is found without scanning all calls. Undefined if rollups do not know the filter, or if there is none.
 */
function matchingBuckets(
  filter: UsageFilter,
  start: LogStart,
  limit: number,
  parameters: Parameters,
): string | undefined {
  const { model, keyId, group, channel, result } = filter;
  const rollups = rollupsOf(filter, []);
  if (rollups === undefined || (model ?? keyId ?? group ?? channel ?? result) === undefined) return undefined;
  const order = start !== undefined && 'after' in start ? 'ASC' : 'DESC';
  // The first bucket may contain rows before the page and does not count; the last one may be used partially.
  return `
    matching AS MATERIALIZED (
      SELECT slot FROM (
        SELECT slot, sum(calls) OVER in_order - calls - first_value(calls) OVER in_order AS passed
          FROM (
            SELECT c.slot, sum(c.calls) AS calls FROM usage_slots c
             WHERE ${rollups} AND c.slot >= greatest(${bucketAt(parameters.time(filter.from))}, ${KEPT_FROM})
               AND c.slot < least(${parameters.time(filter.to)}, ${ROLLED_UP_UNTIL})${behind(start, parameters)}
               ${conditions(filter, parameters, 'c.result')}
             GROUP BY 1 HAVING sum(c.calls) > 0) s
        WINDOW in_order AS (ORDER BY slot ${order})) s
       WHERE passed < ${parameters.add(limit, 'integer')}
    )`;
}

function behind(start: LogStart, parameters: Parameters): string {
  if (start === undefined) return '';
  const [sign, [at]] = 'after' in start ? (['>=', start.after] as const) : (['<=', start.before] as const);
  return ` AND c.slot ${sign} ${bucketAt(parameters.time(at))}`;
}

/** A position between two calls: time (microseconds) and ID of the adjacent call, and in a sorted log its value. */
export type LogPosition = readonly [at: string, id: string, sortValue?: string];

/** Before or after a position; the newest calls if absent. */
export type LogStart = { readonly before: LogPosition } | { readonly after: LogPosition } | undefined;
