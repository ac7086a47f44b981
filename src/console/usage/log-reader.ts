import { Injectable } from '@nestjs/common';
import {
  ACCOUNT_NAME,
  type CallBackground,
  callBackgrounds,
  type CallOwner,
  type ChartScale,
  type Division,
  type LogPage,
  MEMBER_NAME,
  type LogSort,
  type LogStart,
  missingCalls,
  type Query,
  RangeTooLarge,
  type Span,
  TimeLimitedReads,
  unitFor,
  type UsageFilter,
  UsageLog,
  type UsageTotals,
  UsageTotalsReader,
  usedNames,
} from '../../usage/index.js';
import type { LogChoices, LogFigures } from './usage-logs.view.js';

interface LogRequest {
  readonly owner: CallOwner;
  readonly filter: UsageFilter;
  readonly timeZone: string;
  readonly division: Division | undefined;
  readonly start: LogStart;
  readonly size: number;
  readonly sort: LogSort | undefined;
}

/** Data of a log page, from one snapshot. */
interface LogReading {
  readonly page: LogPage;
  readonly totals: UsageTotals;
  readonly scale: ChartScale;
  readonly span: Span;
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly Named[];
  /** Of an organization; empty if the reader sees only their own calls. */
  readonly members: readonly Named[];
  readonly everUsed: boolean;
  /** Notice that calls in the range are no longer stored; undefined if all are. */
  readonly missing: string | undefined;
}

const KEYS = `
  SELECT id, name FROM api_keys WHERE account_id = $1 AND ($2::text IS NULL OR member_id = $2)
   ORDER BY state = 'deleted', lower(name), id LIMIT 500`;
const MEMBERS = `
  SELECT m.id, ${MEMBER_NAME} AS name FROM members m JOIN accounts p ON p.id = m.account_id
   WHERE m.organization_id = $1 ORDER BY m.state, lower(${MEMBER_NAME}), m.id LIMIT 500`;
/** Dropped calls have no members. */
const USED = `
  SELECT EXISTS (SELECT FROM calls WHERE account_id = $1 AND ($2::text IS NULL OR member_id = $2))
      OR EXISTS (SELECT FROM open_calls WHERE account_id = $1 AND ($2::text IS NULL OR member_id = $2))
      OR ($2::text IS NULL AND EXISTS (SELECT FROM dropped_calls WHERE account_id = $1)) AS used`;

interface Named {
  readonly id: string;
  readonly name: string;
}

@Injectable()
export class LogReader {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly log: UsageLog,
    private readonly totals: UsageTotalsReader,
  ) {}

  /** @throws RangeTooLarge */
  read(request: LogRequest): Promise<LogReading> {
    return this.reads.read((query) => this.readAll(query, request));
  }

  private async readAll(query: Query, request: LogRequest): Promise<LogReading> {
    const { owner, filter, timeZone, division, start, size, sort } = request;
    const whose = [owner.accountId, owner.memberId ?? null];
    const scale: ChartScale = { unit: unitFor(filter.from, filter.to), timeZone };
    const page = await this.log.page(query, filter, start, size, sort);
    const totals = await this.totals.read(query, filter, scale, division);
    const { models, groups } = await usedNames(query, { ...owner, from: filter.from, to: filter.to });
    const keys = await query<Named>(KEYS, whose);
    const members = owner.memberId === undefined ? await query<Named>(MEMBERS, [owner.accountId]) : [];
    const everUsed = page.calls.length > 0 || (await query<{ used: boolean }>(USED, whose))[0]?.used === true;
    const missing = await missingCalls(query, filter.from);
    return { page, totals, scale, span: filter, models, groups, keys, members, everUsed, missing };
  }
}

export interface AllCallsPage {
  readonly page: LogPage;
  readonly backgrounds: ReadonlyMap<string, CallBackground>;
  /** All names, because finding those used in the range would require a scan. */
  readonly choices: LogChoices;
  readonly everUsed: boolean;
  /** Notice that calls in the range are no longer stored; undefined if all are. */
  readonly missing: string | undefined;
}

interface AccountMatch {
  readonly id: string;
  readonly email: string;
  readonly isExact: boolean;
}

/** An account found by a text. */
export interface FoundAccount {
  /** The text itself if no account, or more than one, matches. */
  readonly id: string;
  /** Email addresses that contain the text, if there are several. */
  readonly others: readonly string[];
  /** Whether there are more of them. */
  readonly hasMore: boolean;
}

interface NameFilter {
  readonly kind: 'model' | 'group' | 'channel';
  readonly name: string;
}

const CHOICES = `
  SELECT 'model' AS kind, name FROM models UNION ALL SELECT 'group', name FROM groups
   UNION ALL SELECT 'channel', name FROM channels ORDER BY name`;
/** Users offered to choose from. */
const MAX_MATCHES = 10;
const ANY_CALL = 'SELECT EXISTS (SELECT FROM calls) OR EXISTS (SELECT FROM open_calls) AS used';
/** Organizations are found by their name. */
const ACCOUNTS = `
  SELECT id, email, id = $1 OR lower(email) = lower($1) AS "isExact"
    FROM (SELECT a.id, ${ACCOUNT_NAME} AS email FROM accounts a) a
   WHERE id = $1 OR email ILIKE $2 ORDER BY 3 DESC, lower(email), id LIMIT ${MAX_MATCHES + 1}`;

/** The log of all accounts, for administrators. */
@Injectable()
export class AllCallsReader {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly log: UsageLog,
    private readonly totals: UsageTotalsReader,
  ) {}

  /** @throws RangeTooLarge */
  page(filter: UsageFilter, start: LogStart, size: number, sort: LogSort | undefined): Promise<AllCallsPage> {
    return this.reads.read(async (query) => {
      const page = await this.log.page(query, filter, start, size, sort);
      const backgrounds = await callBackgrounds(query, page.calls);
      const choices = await query<NameFilter>(CHOICES);
      const everUsed = page.calls.length > 0 || (await query<{ used: boolean }>(ANY_CALL))[0]?.used === true;
      const missing = await missingCalls(query, filter.from);
      return { page, backgrounds, choices: choicesOf(choices), everUsed, missing };
    });
  }

  /** Undefined if the query timed out. */
  async figures(
    filter: UsageFilter,
    timeZone: string,
    division: Division | undefined,
  ): Promise<LogFigures | undefined> {
    const figures = this.reads.read(async (query) => {
      const scale = { unit: unitFor(filter.from, filter.to), timeZone };
      return { totals: await this.totals.read(query, filter, scale, division), scale, span: filter };
    });
    return undefinedIfTooLarge(figures);
  }

  /** Account and channel data of a call. @throws RangeTooLarge */
  async background(call: { readonly id: string; readonly createdAt: Date }): Promise<CallBackground | undefined> {
    return this.reads.read(async (query) => (await callBackgrounds(query, [call])).get(call.id));
  }

  /** The account with this ID or email address, or the only one whose address contains the text. */
  async accountOf(user: string): Promise<FoundAccount> {
    const found = await this.reads.read((query) => query<AccountMatch>(ACCOUNTS, [user, containing(user)]));
    const [first] = found;
    if (first !== undefined && (first.isExact || found.length === 1))
      return { id: first.id, others: [], hasMore: false };
    const others = found.slice(0, MAX_MATCHES).map(({ email }) => email);
    return { id: user, others, hasMore: found.length > MAX_MATCHES };
  }
}

/** An ILIKE pattern. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** For pages that are still useful without the data. */
export async function undefinedIfTooLarge<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RangeTooLarge) return undefined;
    throw error;
  }
}

function choicesOf(choices: readonly NameFilter[]): LogChoices {
  const of = (kind: NameFilter['kind']): string[] =>
    choices.filter((choice) => choice.kind === kind).map(({ name }) => name);
  return { models: of('model'), groups: of('group'), channels: of('channel'), keys: [], members: [] };
}
