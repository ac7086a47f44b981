import { Injectable } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import { DataSource } from 'typeorm';
import { formatUsd } from '../../platform/shared/index.js';
import {
  ACCOUNT_NAME,
  type CallColumn,
  finishedColumns,
  MEMBER_NAME,
  readCall,
  type RecordedCall,
  type StoredCall,
} from '../calls/recorded-call.js';
import { conditions, Parameters, type UsageFilter } from '../usage-filter.js';

/** A page of calls. */
interface UsagePage {
  readonly filter: UsageFilter;
  /** Last row of the previous page. */
  readonly after: Pick<UsageRow, 'position' | 'id'> | undefined;
  readonly size: number;
}

/** Exported columns of a call. */
const EXPORTED = [
  'id',
  'createdAt',
  'model',
  'group',
  'protocol',
  'upstreamProtocol',
  'channel',
  'stream',
  'status',
  'errorReason',
  'promptTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'completionTokens',
  'reasoningTokens',
  'cost',
  'billingBasis',
  'firstTokenMs',
  'durationMs',
  'attempts',
  'ip',
  'result',
  'transport',
] as const satisfies readonly CallColumn[];

/** A finished call as exported. */
export interface UsageRow extends Pick<RecordedCall, (typeof EXPORTED)[number]> {
  /** Email address, or name of an organization; empty if the account was deleted. */
  readonly account: string;
  /** Name of the key. */
  readonly key: string;
  /** Of an organization; empty: none. */
  readonly member: string;
  readonly team: string;
  /** JSON; null: none. */
  readonly upstreamReport: string | null;
  /** `created_at` in microseconds, the position of the next page. */
  readonly position: string;
}

interface ExportRow extends StoredCall<(typeof EXPORTED)[number]> {
  readonly account: string;
  readonly key: string;
  readonly member: string;
  readonly team: string;
  readonly report: string | null;
  readonly position: string;
}

const SELECT = `
  SELECT ${finishedColumns(EXPORTED)},
         coalesce(${ACCOUNT_NAME}, '') AS account,
         coalesce(${MEMBER_NAME}, '') AS member, coalesce(t.name, '') AS team, coalesce(k.name, '') AS key, c.upstream_report::text AS report,
         to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
    FROM calls c
    LEFT JOIN accounts a ON a.id = c.account_id
    LEFT JOIN members m ON m.id = c.member_id
    LEFT JOIN accounts p ON p.id = m.account_id
    LEFT JOIN teams t ON t.id = c.team_id
    LEFT JOIN api_keys k ON k.id = c.key_id`;

/** Reads finished calls. */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Oldest first. Stable while rows are added: a page begins after the last row of the previous one. */
  async page({ filter, after, size }: UsagePage): Promise<readonly UsageRow[]> {
    const parameters = new Parameters();
    // Bounds on created_at, so that only partitions of these months are read.
    const bounds = `c.created_at >= ${parameters.time(after?.position ?? filter.from)} AND c.created_at < ${parameters.time(filter.to)}`;
    const behind = after
      ? ` AND (c.created_at, c.id) > (${parameters.time(after.position)}, ${parameters.add(after.id)})`
      : '';
    const rows = await this.dataSource.query<ExportRow[]>(
      `${SELECT} WHERE ${bounds}${behind}${conditions(filter, parameters)}
        ORDER BY c.created_at, c.id LIMIT ${parameters.add(size, 'integer')}`,
      parameters.values,
    );
    return rows.map((row) => ({
      ...readCall(row, EXPORTED),
      account: row.account,
      key: row.key,
      member: row.member,
      team: row.team,
      upstreamReport: row.report,
      position: row.position,
    }));
  }
}

/** Finished calls that match a filter; channels are only included for administrators. */
export interface UsageSelection extends Omit<UsageFilter, 'accountId'> {
  /** Undefined: all accounts. */
  readonly accountId?: string | undefined;
  /** Whether to include channels. */
  readonly withChannels?: boolean;
}

const PAGE_ROWS = 1000;

/** The usage log as CSV. */
@Injectable()
export class UsageExport {
  constructor(private readonly usage: UsageRepository) {}

  /**
   * The header, then a chunk per thousand calls, oldest first. Reads one page at a time as it is consumed; stopping
   * early releases everything.
   */
  async *csv({ withChannels = true, ...selection }: UsageSelection): AsyncGenerator<string, void, void> {
    yield csvHeader();
    // The export contains finished calls only.
    if (selection.result === 'open') return;
    const filter = { ...selection, accountId: selection.accountId };
    let rows: readonly UsageRow[];
    let after: UsageRow | undefined;
    do {
      rows = await this.usage.page({ filter, after, size: PAGE_ROWS });
      if (rows.length > 0) yield csvOf(withChannels ? rows : rows.map((row) => ({ ...row, channel: '' })));
      after = rows.at(-1);
    } while (rows.length === PAGE_ROWS);
  }
}

type Cell = string | number | boolean | null;

/** Columns in order. `time`: arrival of the call, ISO 8601 in UTC. Programs read them by name: columns are added, never renamed. */
const CSV_COLUMNS: Readonly<Record<string, (row: UsageRow) => Cell>> = {
  time: (row) => row.createdAt.toISOString(),
  request_id: (row) => row.id,
  account: (row) => row.account,
  key: (row) => row.key,
  model: (row) => row.model,
  group: (row) => row.group,
  protocol: (row) => row.protocol,
  upstream_protocol: (row) => row.upstreamProtocol,
  channel: (row) => row.channel,
  stream: (row) => row.stream,
  status: (row) => row.status,
  error_reason: (row) => row.errorReason,
  prompt_tokens: (row) => row.promptTokens,
  cached_tokens: (row) => row.cachedTokens,
  cache_write_tokens: (row) => row.cacheWriteTokens,
  completion_tokens: (row) => row.completionTokens,
  reasoning_tokens: (row) => row.reasoningTokens,
  cost_usd: (row) => (row.cost === null ? null : formatUsd(row.cost)),
  billing_basis: (row) => row.billingBasis,
  first_token_ms: (row) => row.firstTokenMs,
  duration_ms: (row) => row.durationMs,
  attempts: (row) => row.attempts,
  ip: (row) => row.ip,
  upstream_report: (row) => row.upstreamReport,
  result: (row) => row.result,
  transport: (row) => row.transport,
  member: (row) => row.member,
  team: (row) => row.team,
};

const CELLS = Object.values(CSV_COLUMNS);
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/** The header line with line feed. */
export const csvHeader = (): string => csvLines([Object.keys(CSV_COLUMNS)]);

/** One line with line feed per row. */
export const csvOf = (rows: readonly UsageRow[]): string => csvLines(rows.map((row) => CELLS.map((cell) => cell(row))));

/** RFC 4180 with LF. Cells cannot be evaluated as formulas. */
export const csvLines = (lines: readonly (readonly Cell[])[]): string =>
  stringify(
    lines.map((line) => line.map(cellText)),
    { record_delimiter: '\n', quoted_match: /\r/ },
  );

/** Null becomes an empty cell; formulas are escaped with an apostrophe. */
function cellText(cell: Cell): string {
  const text = String(cell ?? '');
  return /^[=+\-@\t\r]/.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}
