import { Injectable } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import { DataSource } from 'typeorm';
import { formatUsd } from '../../platform/shared/index.js';
import { conditions, Parameters, type UsageFilter } from '../usage-filter.js';

/** Which calls, and from where on. */
interface UsagePage {
  readonly filter: UsageFilter;
  /** The last row of the page before. */
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

/** Finished calls, read only. */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Oldest first. A page begins behind the last row of the one before, whatever was added meanwhile. */
  page({ filter, after, size }: UsagePage): Promise<readonly UsageRow[]> {
    const parameters = new Parameters();
    // Bounds on created_at alone, so that only the partitions of these months are read.
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

/** Finished calls, as a filter has them; what an account's own people do not see is left empty for them. */
export interface UsageSelection extends Omit<UsageFilter, 'accountId'> {
  /** Left out: of every account. */
  readonly accountId?: string | undefined;
  /** Whether the channels are told. */
  readonly withChannels?: boolean;
}

const PAGE_ROWS = 1000;

/** The record of calls as CSV. */
@Injectable()
export class UsageExport {
  constructor(private readonly usage: UsageRepository) {}

  /**
   * The header line, then a piece of text for each thousand calls, oldest first. Read as slowly as it is consumed, one
   * page in memory at a time; leaving early leaves nothing open.
   */
  async *csv({ withChannels = true, ...selection }: UsageSelection): AsyncGenerator<string, void, void> {
    yield csvHeader();
    // What runs is never in it.
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

/** A finished call as it is exported. Amounts and counts as the database says them; null: unknown. */
export interface UsageRow {
  /** When the call arrived: the time inside its id. ISO UTC with milliseconds. */
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
  /** Nano-dollars, what was charged. */
  readonly cost: string;
  readonly billingBasis: string;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
  readonly attempts: number;
  readonly ip: string;
  /** JSON. */
  readonly upstreamReport: string | null;
  /** `created_at` to the microsecond: where the next page begins. */
  readonly position: string;
}

type Cell = string | number | boolean | null;

/** The columns, in order. Programs read them by name: they are added to, never renamed. */
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

/** The first line, with its line end. */
export const csvHeader = (): string => csvLines([Object.keys(CSV_COLUMNS)]);

/** One line for each row, each with its line end; empty for no rows. */
export const csvOf = (rows: readonly UsageRow[]): string => csvLines(rows.map((row) => CELLS.map((cell) => cell(row))));

/** RFC 4180, but for the line end, which is LF. Nothing in it is run by a spreadsheet. */
export const csvLines = (lines: readonly (readonly Cell[])[]): string =>
  stringify(
    lines.map((line) => line.map(cellText)),
    { record_delimiter: '\n', quoted_match: /\r/ },
  );

/** Null is unknown: an empty cell. What a spreadsheet would run as a formula gets an apostrophe before it. */
function cellText(cell: Cell): string {
  const text = String(cell ?? '');
  return /^[=+\-@\t\r]/.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}
