import { stringify } from 'csv-stringify/sync';
import { formatUsd } from '../../platform/shared/index.js';
import type { UsageRow } from './usage-row.js';

type Cell = string | number | boolean | null;

/** The columns, in order. Programs read them by name: they are added to, never renamed. */
const COLUMNS: Readonly<Record<string, (row: UsageRow) => Cell>> = {
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

const CELLS = Object.values(COLUMNS);
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/** The first line, with its line end. */
export const csvHeader = (): string => csvLines([Object.keys(COLUMNS)]);

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
