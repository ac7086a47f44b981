import { Injectable } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import { DataSource } from 'typeorm';
import { formatUsd } from '../../platform/shared/index.js';
import { conditions, Parameters, type UsageFilter } from '../usage-filter.js';

/** A page of calls. */
interface UsagePage {
  readonly filter: UsageFilter;
  /** Last row of the previous page. */
  readonly after: Pick<UsageRow, 'position' | 'id'> | undefined;
  readonly size: number;
}

const COLUMNS = `
  SELECT to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time,
         c.id, coalesce(a.email, '') AS account, coalesce(k.name, '') AS key, c.model, c.group_name AS "group",
         c.protocol, c.upstream_protocol AS "upstreamProtocol", c.channel, c.stream, c.status,
         c.error_reason AS "errorReason", c.prompt_tokens AS "promptTokens", c.cached_tokens AS "cachedTokens",
         c.cache_write_tokens AS "cacheWriteTokens", c.completion_tokens AS "completionTokens",
         c.reasoning_tokens AS "reasoningTokens", c.cost, c.billing_basis AS "billingBasis",
         c.first_token_ms AS "firstTokenMs", c.duration_ms AS "durationMs", c.attempts, c.ip,
         c.upstream_report::text AS "upstreamReport",
         to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
    FROM calls c
    LEFT JOIN accounts a ON a.id = c.account_id
    LEFT JOIN api_keys k ON k.id = c.key_id`;

/** Reads finished calls. */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Oldest first. Stable while rows are added: a page begins after the last row of the previous one. */
  page({ filter, after, size }: UsagePage): Promise<readonly UsageRow[]> {
    const parameters = new Parameters();
    // Bounds on created_at, so that only partitions of these months are read.
    const bounds = `c.created_at >= ${parameters.time(after?.position ?? filter.from)} AND c.created_at < ${parameters.time(filter.to)}`;
    const behind = after
      ? ` AND (c.created_at, c.id) > (${parameters.time(after.position)}, ${parameters.add(after.id)})`
      : '';
    return this.dataSource.query(
      `${COLUMNS} WHERE ${bounds}${behind}${conditions(filter, parameters)}
        ORDER BY c.created_at, c.id LIMIT ${parameters.add(size, 'integer')}`,
      parameters.values,
    );
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

/** A finished call as exported. Numbers as text; null: unknown. */
export interface UsageRow {
  /** Arrival of the call, from its ID. ISO 8601, UTC, milliseconds. */
  readonly time: string;
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly model: string;
  readonly group: string;
  readonly protocol: string;
  readonly upstreamProtocol: string;
  readonly channel: string;
  readonly stream: boolean;
  readonly status: string;
  readonly errorReason: string;
  readonly promptTokens: string | null;
  readonly cachedTokens: string | null;
  readonly cacheWriteTokens: string | null;
  readonly completionTokens: string | null;
  readonly reasoningTokens: string | null;
  /** Charged nano-dollars. */
  readonly cost: string;
  readonly billingBasis: string;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
  readonly attempts: number;
  readonly ip: string;
  /** JSON. */
  readonly upstreamReport: string | null;
  /** `created_at` in microseconds, the position of the next page. */
  readonly position: string;
}

type Cell = string | number | boolean | null;

/** Columns in order. Programs read them by name: columns are added, never renamed. */
const CSV_COLUMNS: Readonly<Record<string, (row: UsageRow) => Cell>> = {
  time: (row) => row.time,
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
  cost_usd: (row) => formatUsd(BigInt(row.cost)),
  billing_basis: (row) => row.billingBasis,
  first_token_ms: (row) => row.firstTokenMs,
  duration_ms: (row) => row.durationMs,
  attempts: (row) => row.attempts,
  ip: (row) => row.ip,
  upstream_report: (row) => row.upstreamReport,
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
