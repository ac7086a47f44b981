import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { type KeyNotice, KeyNotices, type OwnedKey, type OwnKey, OwnKeys } from '../../keys/index.js';
import { clockTime } from '../../platform/format/index.js';
import { describeLimits } from '../../platform/limits/index.js';
import { Clock } from '../../platform/shared/index.js';
import { type KeyReport, KeyReportReader, type KeyUses, RangeTooLarge, type UsesOf } from '../../usage/index.js';
import { filterOf, logAddress, usageCharts, usageQuery } from '../usage/index.js';
import { chartTable, type ChartWithTable, COUNT, EXACT_DOLLARS, Page, Redirect, stackedBars } from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { badgeOf, crumbsTo, expiryView, limitsOf } from './key-facts.js';
import { noticeText } from './notice-text.js';

/** Spans that can be looked at; the log has the same. */
const RANGES = [
  { name: '24h', label: '24 hours' },
  { name: '7d', label: '7 days' },
  { name: '30d', label: '30 days' },
];
const DEFAULT_RANGE = '7d';

/** Whose page it is. */
interface Place {
  /** Of the page, without a query. */
  readonly path: string;
  readonly crumbs: readonly { readonly href?: string; readonly label: string }[];
  /** The log of the key's calls in a range. */
  readonly log: (range: string) => string;
  /** Whether whoever looks at it is the owner, who can change it here. */
  readonly own: boolean;
}

/** `/keys/:id`: what a key may do and what it was used for, from where and when. Never the key itself. */
@Injectable()
export class KeyUsePages {
  constructor(
    private readonly keys: OwnKeys,
    private readonly choices: KeyChoices,
    private readonly reports: KeyReportReader,
    private readonly notices: KeyNotices,
    private readonly clock: Clock,
  ) {}

  /** @param range as the address has it @throws KeyNotFound */
  async own({ accountId, timeZone }: Visitor, id: string, range: unknown): Promise<Page> {
    const key = await this.keys.get({ accountId, id });
    const log = (name: string): string => logAddress(usageQuery({ range: name, key: id }, this.clock.date(), timeZone));
    const place = { path: `/keys/${id}`, crumbs: crumbsTo(key.name), log, own: true };
    return this.page(accountId, key, place, { timeZone, range });
  }

  /** The same for operators. @throws KeyNotFound */
  async ofUser(key: OwnedKey, place: Omit<Place, 'own'>, { timeZone }: Visitor, range: unknown): Promise<Page> {
    return this.page(key.accountId, await this.keys.get(key), { ...place, own: false }, { timeZone, range });
  }

  /** What is unusual about a key of one's own is known from now on. @throws KeyNotFound */
  async acknowledge({ accountId }: Visitor, id: string, noticeId: string, back: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.notices.acknowledge({ accountId, id }, noticeId);
    return new Redirect(back, {
      tone: 'ok',
      title: 'Notice dismissed',
      text: `You will be notified of other unusual use of “${name}”.`,
    });
  }

  private async page(
    accountId: string,
    key: OwnKey,
    { path, crumbs, log, own }: Place,
    { timeZone, range }: { readonly timeZone: string; readonly range: unknown },
  ): Promise<Page> {
    const shown = RANGES.find(({ name }) => name === range)?.name ?? DEFAULT_RANGE;
    const report = await this.report(accountId, key.id, shown, timeZone);
    const notices = await this.notices.open(accountId, key.id);
    return new Page('keys/show', {
      title: `Key “${key.name}”`,
      data: {
        key: { id: key.id, name: key.name, hint: key.hint, used: key.used, createdAt: key.createdAt },
        badge: badgeOf(key),
        own: own && key.state !== 'deleted',
        enabled: key.state === 'enabled',
        crumbs,
        callsHref: log(shown),
        ranges: RANGES.map(({ name, label }) => ({ href: `${path}?range=${name}`, label, current: name === shown })),
        notices: notices.map((notice) => noticeView(notice, timeZone)),
        ...this.facts(key, timeZone),
        use: report && keyUseView(report),
      },
    });
  }

  private facts(key: OwnKey, timeZone: string) {
    return {
      limits: limitsOf(key),
      groupText: this.choices.groupOf(key),
      models: key.models?.join(', '),
      pace: describeLimits(this.choices.limitsOf(key)),
      networks: key.networks?.join(', '),
      lastUsedAt: key.lastUsedAt,
      expiry: expiryView(key.expiresAt, timeZone, this.clock.date()),
    };
  }

  /** Undefined when there are too many calls to be read in time: what the key may do is shown all the same. */
  private async report(accountId: string, id: string, range: string, timeZone: string): Promise<KeyReport | undefined> {
    const now = this.clock.date();
    const { from, to } = filterOf(usageQuery({ range }, now, timeZone), accountId, now, timeZone);
    try {
      return await this.reports.read({ accountId, keyId: id, from, to }, timeZone);
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }
}

const noticeView = (notice: KeyNotice, timeZone: string) => ({ id: notice.id, ...noticeText(notice, timeZone) });

/** What the page of a key shows of its calls. */
const keyUseView = (report: KeyReport) => ({
  charts: usageCharts({ ...report, upToNow: true, chargeName: 'Charged', seriesNames: new Map() }),
  hours: report.hours.length === 0 ? undefined : hoursOfDay(report),
  addresses: usesTable(report.addresses, 'address', 'All other addresses', 'not recorded'),
  models: usesTable(report.models, 'model', 'All other models', 'model unknown'),
  missing: report.missing,
});

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const hourText = (hour: number): string => `${hour.toString().padStart(2, '0')}:00`;

/** When it is used: the calls of all days by the hour that the reader's clock showed. */
function hoursOfDay({ hours, scale: { timeZone } }: KeyReport): ChartWithTable {
  const bars = HOURS.map(() => ({ calls: 0, failed: 0, cost: 0n }));
  for (const { start, calls, failed, cost } of hours) {
    const bar = bars[Number(clockTime(start, timeZone, 'minutes').slice(0, 2))];
    if (bar === undefined) continue;
    bar.calls += calls;
    bar.failed += failed;
    bar.cost += cost;
  }
  const values = bars.map(({ calls }) => calls);
  const buckets = HOURS.map(hourText);
  const busiest = hourText(values.indexOf(Math.max(...values)));
  const { chart } = stackedBars({
    id: 'hours',
    finding: `Calls by hour of the day, peak at ${busiest}`,
    caption: '',
    bucketName: 'Hour',
    buckets,
    series: [{ name: 'Calls', values }],
    restName: '',
    unit: COUNT,
  });
  const table = chartTable('Calls by hour of the day', 'Hour', buckets, [
    { name: 'Calls', values, unit: COUNT },
    { name: 'Failed', values: bars.map(({ failed }) => failed), unit: COUNT },
    { name: 'Charged', values: bars.map(({ cost }) => cost), unit: EXACT_DOLLARS },
  ]);
  return { chart, table };
}

/** @param unknown what stands where there is no name */
function usesTable({ rows, others }: KeyUses, kind: 'address' | 'model', rest: string, unknown: string) {
  const named = rows.map(({ name, ...use }: UsesOf) => ({ name, unknown, isAddress: kind === 'address', ...use }));
  return others === undefined ? named : [...named, { name: '', unknown: rest, isAddress: false, ...others }];
}
