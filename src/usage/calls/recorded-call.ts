import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { Transport, WaitRecords } from '../../protocols/contract/index.js';

/** One term of a call's cost, as settled: the price in US dollars as a decimal. */
export interface CostLine {
  readonly item: string;
  readonly quantity: number;
  readonly price: string;
  /** For lines of passes: its number, from 1, and its model. */
  readonly pass?: number;
  readonly model?: string;
}

/** The part of a price snapshot shown beside the lines. Multipliers as decimals. */
export interface SnapshotView {
  readonly price_version?: string;
  /** Ascending, starting at 0. */
  readonly tiers?: readonly { readonly from_prompt_tokens: number }[];
  readonly service_tier?: string;
  readonly service_tier_multiplier?: string;
  readonly speed?: string;
  readonly speed_multiplier?: string;
  readonly geo?: string;
  readonly geo_multiplier?: string;
  readonly effort_multiplier: string;
  readonly group_multiplier: string;
  /** The model that served the call, if not the requested one. */
  readonly served_by?: string;
  /** Multipliers of other models used in additional passes. */
  readonly models?: Readonly<Record<string, SnapshotView>>;
}

/** A usage report that was not charged as is. Totals are null if missing, else as written. */
export interface UpstreamReport {
  /** Reasons, as named in relay/billing: `prompt_too_large`. */
  readonly findings: readonly string[];
  readonly prompt_tokens: number | string | null;
  readonly completion_tokens: number | string | null;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

/** An open or finished call. Money in nano-dollars; null: unknown or not yet known. */
export interface RecordedCall {
  readonly id: string;
  readonly createdAt: Date;
  readonly model: string;
  readonly group: string;
  readonly protocol: string;
  /** Protocol of the last upstream; empty: none asked yet. */
  readonly upstreamProtocol: string;
  readonly stream: boolean;
  readonly effort: string;
  /** `open` until settled. */
  readonly status: string;
  readonly errorReason: string;
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly completionTokens: number | null;
  readonly reasoningTokens: number | null;
  /** Max output tokens as requested; null: none was set. */
  readonly outputLimit: number | null;
  /** Of the client; null: not recorded. */
  readonly transport: Transport | null;
  readonly cost: Nanos | null;
  readonly uncollected: Nanos | null;
  /** Hold while open. */
  readonly held: Nanos;
  readonly billingBasis: string | null;
  /** The rejected usage report; null: none, or charged as reported. */
  readonly upstreamReport: UpstreamReport | null;
  /** Empty if nothing was priced. */
  readonly lines: readonly CostLine[];
  readonly snapshot: SnapshotView | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number | null;
  readonly attempts: number | null;
  readonly keyId: string;
  /** Of an organization; null: of a service key, or of a person. */
  readonly memberId: string | null;
  readonly teamId: string | null;
  /** Channel of the last attempt, for administrators only. */
  readonly channel: string;
  readonly errorMessage: string;
  readonly ip: string;
  readonly result: CallOutcome;
  /** Ms from arrival until a hold was requested, and until the response to that; null: no hold. */
  readonly holdBegunMs: number | null;
  readonly holdMs: number | null;
  /**
   * Ms from its end until its row was sent to the database; null for calls of earlier releases and calls settled by
   * another process.
   */
  readonly settleWaitMs: number | null;
  /** Why the response waited; null: it did not. */
  readonly waits: WaitRecords | null;
}

/**
 * Result for display: the function `call_result` in the database, and `open` for running calls. A refused call is one
 * that its client or account has to change; a failed or timed-out one is not.
 */
export type CallOutcome = 'completed' | 'cut' | 'refused' | 'failed' | 'timeout' | 'open';

/** In display order. */
export const CALL_RESULTS: readonly CallOutcome[] = ['completed', 'cut', 'refused', 'failed', 'timeout', 'open'];

/** Display names. */
export const RESULT_LABELS: Readonly<Record<CallOutcome, string>> = {
  completed: 'Completed',
  cut: 'Cut short',
  refused: 'Rejected',
  failed: 'Failed',
  timeout: 'Timed out',
  open: 'In progress',
};

/** Display names. */
export const TRANSPORT_LABELS: Readonly<Record<Transport, string>> = { http: 'HTTP', websocket: 'WebSocket' };

export const RESULT_TONES: Readonly<Record<CallOutcome, 'ok' | 'warn' | 'bad' | ''>> = {
  completed: 'ok',
  cut: 'warn',
  refused: 'warn',
  failed: 'bad',
  timeout: 'bad',
  open: '',
};

/** SQL condition for calls that failed or timed out. */
export const hasFailed = (result: string): string => `${result} IN ('failed', 'timeout')`;

/** SQL condition for refused calls. */
export const isRefused = (result: string): string => `${result} = 'refused'`;

/** SQL expression for the result of finished calls with this alias. */
export const resultOf = (calls: string): string =>
  `call_result(${calls}.status, ${calls}.error_reason, ${calls}.billing_basis)`;

/** SQL expression of a column for a finished call, and for a running one. */
type ColumnSql = readonly [finished: string, running: string];

const both = (sql: string): ColumnSql => [sql, sql];

/** Columns of `calls` and `open_calls`, each with alias `c`. */
const COLUMNS: Readonly<Record<keyof RecordedCall, ColumnSql>> = {
  id: both('c.id'),
  createdAt: both('c.created_at'),
  model: both('c.model'),
  group: both('c.group_name'),
  protocol: both('c.protocol'),
  upstreamProtocol: ['c.upstream_protocol', `''`],
  stream: both('c.stream'),
  effort: both('c.effort'),
  status: ['c.status', `'open'`],
  errorReason: ['c.error_reason', `''`],
  promptTokens: ['c.prompt_tokens', 'NULL::bigint'],
  cachedTokens: ['c.cached_tokens', 'NULL::bigint'],
  cacheWriteTokens: ['c.cache_write_tokens', 'NULL::bigint'],
  completionTokens: ['c.completion_tokens', 'NULL::bigint'],
  reasoningTokens: ['c.reasoning_tokens', 'NULL::bigint'],
  outputLimit: ['c.output_limit', 'NULL::bigint'],
  transport: ['c.transport', 'NULL::text'],
  cost: ['c.cost', 'NULL::bigint'],
  uncollected: ['c.uncollected', 'NULL::bigint'],
  held: ['0::bigint', 'c.hold'],
  billingBasis: ['c.billing_basis', 'NULL::text'],
  upstreamReport: ['c.upstream_report', 'NULL::jsonb'],
  lines: ['c.lines', 'NULL::json'],
  snapshot: both('c.snapshot'),
  firstTokenMs: ['c.first_token_ms', 'NULL::integer'],
  durationMs: ['c.duration_ms', 'NULL::integer'],
  attempts: ['c.attempts', 'NULL::integer'],
  keyId: both('c.key_id'),
  memberId: both('c.member_id'),
  teamId: both('c.team_id'),
  channel: ['c.channel', `''`],
  errorMessage: ['c.error_message', `''`],
  ip: both('c.ip'),
  result: [resultOf('c'), `'open'`],
  holdBegunMs: ['c.hold_begun_ms', 'NULL::integer'],
  holdMs: ['c.hold_ms', 'NULL::integer'],
  settleWaitMs: ['c.settle_wait_ms', 'NULL::integer'],
  waits: ['c.waits', 'NULL::json'],
};

/** SQL expression for the display name of a member with the account `p`. */
export const MEMBER_NAME = `coalesce(nullif(p.name, ''), p.email)`;

/** SQL expression for how lists name an account `a`: users by email address, organizations by name. */
export const ACCOUNT_NAME = `CASE a.kind WHEN 'organization' THEN a.name ELSE a.email END`;

/** A column of a call. */
export type CallColumn = keyof RecordedCall;

export const ALL_COLUMNS = Object.keys(COLUMNS) as readonly CallColumn[];

/** A select list for `calls c`. */
export const finishedColumns = (names: readonly CallColumn[]): string =>
  names.map((name) => `${COLUMNS[name][0]} AS "${name}"`).join(', ');

/** The same select list for `open_calls c`. */
export const runningColumns = (names: readonly CallColumn[]): string =>
  names.map((name) => `${COLUMNS[name][1]} AS "${name}"`).join(', ');

/** A row with such columns, as the driver returns it: 8-byte integers as text. */
export type StoredCall<Name extends CallColumn> = Readonly<Record<Name, unknown>>;

/** How columns are read that the driver does not return as in `RecordedCall`. */
const READERS: Readonly<Partial<Record<CallColumn, (stored: unknown) => unknown>>> = {
  promptTokens: countOf,
  cachedTokens: countOf,
  cacheWriteTokens: countOf,
  completionTokens: countOf,
  reasoningTokens: countOf,
  outputLimit: countOf,
  cost: amountOf,
  uncollected: amountOf,
  held: amountOf,
  lines: (stored) => stored ?? [],
};

export const readCall = <Name extends CallColumn>(
  row: StoredCall<Name>,
  names: readonly Name[],
): Pick<RecordedCall, Name> =>
  Object.fromEntries(names.map((name) => [name, READERS[name]?.(row[name]) ?? row[name]])) as Pick<RecordedCall, Name>;

function countOf(stored: unknown): number | null {
  return stored === null ? null : Number(stored);
}

function amountOf(stored: unknown): Nanos | null {
  return stored === null ? null : nanos(BigInt(stored as string));
}
