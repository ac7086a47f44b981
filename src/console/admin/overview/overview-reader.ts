import { Injectable } from '@nestjs/common';
import { ChannelDirectory } from '../../../catalog/channels/index.js';
import { CatalogService } from '../../../catalog/index.js';
import { type RecordedChange, recordedChanges } from '../../../platform/audit/index.js';
import { Notifications } from '../../../platform/database/index.js';
import { CallCounts } from '../../../platform/limits/index.js';
import { Mailer } from '../../../platform/mail/index.js';
import { nanos, type Nanos } from '../../../platform/shared/index.js';
import {
  ACCOUNT_NAME,
  type ChartScale,
  countCalls,
  ownShare,
  type Percentiles,
  type Query,
  RangeTooLarge,
  readTraffic,
  type Span,
  TimeLimitedReads,
  type Traffic,
  UsageTotalsReader,
} from '../../../usage/index.js';
import type { ChannelCooldown, ChannelCorrections, ChannelTrouble, NoticeConditions } from './notices.js';

interface SpendingUser {
  readonly id: string;
  /** Email address of a user, name of an organization. */
  readonly name: string;
  readonly balance: Nanos;
}

/** Database facts for the overview. Undefined: the query timed out. */
export interface OverviewReading {
  readonly traffic: (Traffic & { readonly spenders: ReadonlyMap<string, SpendingUser> }) | undefined;
  /** Of the preceding span of the same length. */
  readonly callsBefore: number | undefined;
  /** `ownMs`: the relay’s own share; undefined if there were no streams. */
  readonly firstToken: { readonly times: Percentiles | undefined; readonly ownMs: number | undefined } | undefined;
  readonly changes: readonly RecordedChange[] | undefined;
  readonly troubles: readonly ChannelTrouble[];
  readonly unsettled: number;
  readonly paymentProblems: number;
  readonly corrections: readonly ChannelCorrections[];
}

/** Excludes failures that the upstream did not cause. */
const TROUBLES = `
  SELECT channel, count(*)::integer AS attempts, (count(*) FILTER (WHERE has_failed))::integer AS failed,
         mode() WITHIN GROUP (ORDER BY coalesce(upstream_status, 0)) FILTER (WHERE has_failed) AS status
    FROM (SELECT channel, upstream_status,
                 outcome NOT IN ('succeeded', 'cancelled', 'context_canceled', 'invalid_request',
                   'context_length_exceeded', 'request_too_large') AS has_failed
            FROM call_attempts WHERE created_at >= now() - interval '1 hour') a
   GROUP BY channel HAVING bool_or(has_failed) ORDER BY failed DESC`;
const UNSETTLED = 'SELECT count(*)::integer AS calls FROM settlement_failures WHERE resolved_at IS NULL';
const PAYMENT_PROBLEMS = 'SELECT count(*)::integer AS problems FROM payment_problems WHERE resolved_at IS NULL';
const CORRECTIONS = `
  SELECT channel, count(*)::integer AS calls FROM calls
   WHERE billing_basis = 'corrected' AND created_at >= now() - interval '24 hours'
   GROUP BY channel ORDER BY calls DESC, channel`;
const SPENDERS = `
  SELECT a.id, ${ACCOUNT_NAME} AS name, coalesce(w.balance, 0) AS balance
    FROM accounts a LEFT JOIN wallets w ON w.account_id = a.id WHERE a.id = ANY ($1::text[])`;
const CHANGES = 5;
const NOTHING_READ = { changes: undefined, troubles: [], unsettled: 0, paymentProblems: 0, corrections: [] };

/** Reads the overview in separate queries, so that one timeout does not affect the others. */
@Injectable()
export class OverviewReader {
  /** Running reads by name: concurrent page loads share one read. */
  private readonly underWay = new Map<string, Promise<OverviewReading>>();

  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly totals: UsageTotalsReader,
  ) {}

  /** @param name identifies reads that can be shared */
  read(name: string, span: Span, scale: ChartScale): Promise<OverviewReading> {
    const running = this.underWay.get(name);
    if (running !== undefined) return running;
    const reading = this.readAll(span, scale).finally(() => this.underWay.delete(name));
    this.underWay.set(name, reading);
    return reading;
  }

  private async readAll(span: Span, scale: ChartScale): Promise<OverviewReading> {
    const [traffic, callsBefore, firstToken, lesser] = await Promise.all([
      this.part((query) => this.traffic(query, span, scale)),
      this.part((query) => countCalls(query, spanBefore(span))),
      this.part(async (query) => ({
        times: (await this.totals.read(query, { ...span, accountId: undefined }, scale)).times.total.firstToken,
        ownMs: await ownShare(query, span),
      })),
      this.part(async (query) => ({
        changes: (await recordedChanges(query, {}, {}, CHANGES)).changes,
        troubles: await troubles(query),
        unsettled: (await query<{ calls: number }>(UNSETTLED))[0]?.calls ?? 0,
        paymentProblems: (await query<{ problems: number }>(PAYMENT_PROBLEMS))[0]?.problems ?? 0,
        corrections: await query<ChannelCorrections>(CORRECTIONS),
      })),
    ]);
    const { changes, ...rest } = lesser ?? NOTHING_READ;
    return { traffic, callsBefore, firstToken, changes, ...rest };
  }

  private async traffic(query: Query, span: Span, scale: ChartScale): Promise<OverviewReading['traffic']> {
    const traffic = await readTraffic(query, span, scale);
    const rows = await query<{ id: string; name: string; balance: string }>(SPENDERS, [
      traffic.accounts.map(({ name }) => name),
    ]);
    const spenders = rows.map(({ balance, ...row }) => ({ ...row, balance: nanos(BigInt(balance)) }));
    return { ...traffic, spenders: new Map(spenders.map((one) => [one.id, one])) };
  }

  private async part<T>(work: (query: Query) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.reads.read(work);
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }
}

const spanBefore = ({ from, to }: Span): Span => ({
  from: new Date(2 * from.getTime() - to.getTime()),
  to: from,
});

async function troubles(query: Query): Promise<readonly ChannelTrouble[]> {
  const rows = await query<ChannelTrouble>(TROUBLES);
  return rows.map((row) => ({ ...row, status: row.status === 0 ? null : row.status }));
}

/** Combines database facts with problems known to this process. */
@Injectable()
export class Troubles {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly counts: CallCounts,
    private readonly notifications: Notifications,
    private readonly mailer: Mailer,
  ) {}

  with(
    reading: Pick<OverviewReading, 'troubles' | 'unsettled' | 'paymentProblems' | 'corrections'>,
    rests: readonly ChannelCooldown[],
  ): NoticeConditions {
    return {
      rests,
      troubles: reading.troubles,
      unsettled: reading.unsettled,
      paymentProblems: reading.paymentProblems,
      corrections: reading.corrections,
      hasChannel: this.channels.hasStored,
      unserved: this.unserved(),
      countsAway: this.counts.away,
      hearsOthers: this.notifications.connected,
      lostMails: this.mailer.lost,
    };
  }

  /** Enabled models with groups that no channel serves in any of these groups. */
  private unserved(): readonly string[] {
    return [...this.catalog.current().models.values()]
      .filter(({ enabled, groups }) => enabled && groups.length > 0)
      .filter(({ name, groups }) => groups.every((group) => this.channels.serving(group, name).length === 0))
      .map(({ name }) => name);
  }
}
