import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import { allows, changedKeys, type Owner, viewedKeys, type Visitor } from '../../auth/index.js';
import { KeyNotices, type OwnedKey, type OwnKey, OwnKeys } from '../../keys/index.js';
import { clockTime } from '../../platform/format/index.js';
import { describeLimits } from '../../platform/limits/index.js';
import { Clock } from '../../platform/shared/index.js';
import { type KeyReport, KeyReportReader, type KeyUses, type UsesOf } from '../../usage/index.js';
import { Allows, SignedIn } from '../access/index.js';
import {
  type ChartsInput,
  chartMeasure,
  filterOf,
  logAddress,
  spanParts,
  undefinedIfTooLarge,
  usageCharts,
  usageQuery,
} from '../usage/index.js';
import {
  chartTable,
  type ChartWithTable,
  COUNT,
  CurrentVisitor,
  EXACT_DOLLARS,
  type FormBody,
  localPath,
  Page,
  Redirect,
  stackedBars,
} from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { badgeOf, crumbsTo, expiryView, limitsOf, noticeText } from './key.view.js';

const RANGES = [
  { name: '24h', label: '24 hours' },
  { name: '7d', label: '7 days' },
  { name: '30d', label: '30 days' },
];
const DEFAULT_RANGE = '7d';

/** Query parameters of a key's page. */
export interface KeyUseQuery {
  readonly range?: unknown;
  readonly chart?: unknown;
}

interface PagePlace {
  /** Of the page, without a query. */
  readonly path: string;
  readonly crumbs: readonly { readonly href?: string; readonly label: string }[];
  readonly log: (parts: Readonly<Record<string, string>>) => string;
  /** Whether the reader owns the key and can change it. */
  readonly own: boolean;
}

/** A key's permissions and use, for its owner and for administrators. Never shows the key itself. */
@Injectable()
export class KeyUsePages {
  constructor(
    private readonly keys: OwnKeys,
    private readonly choices: KeyChoices,
    private readonly reports: KeyReportReader,
    private readonly notices: KeyNotices,
    private readonly clock: Clock,
  ) {}

  /** @throws KeyNotFound */
  async own(visitor: Visitor, id: string, { range, chart }: KeyUseQuery): Promise<Page> {
    const { timeZone, organization } = visitor;
    const owner = viewedKeys(visitor);
    const key = await this.keys.get({ ...owner, id });
    const log = (parts: Readonly<Record<string, string>>): string =>
      logAddress(usageQuery({ ...parts, key: id }, this.clock.date(), timeZone));
    const place = { path: `/keys/${id}`, crumbs: crumbsTo(key.name), log, own: allows(organization, 'use keys') };
    return this.page(owner, key, place, { timeZone, range, chart });
  }

  /** The same for administrators. @throws KeyNotFound */
  async ofUser(
    key: OwnedKey,
    place: Omit<PagePlace, 'own'>,
    { timeZone }: Visitor,
    { range, chart }: KeyUseQuery,
  ): Promise<Page> {
    return this.page(key, await this.keys.get(key), { ...place, own: false }, { timeZone, range, chart });
  }

  private async page(
    { accountId, memberId }: Owner,
    key: OwnKey,
    { path, crumbs, log, own }: PagePlace,
    { timeZone, range, chart }: KeyUseQuery & { readonly timeZone: string },
  ): Promise<Page> {
    const shown = RANGES.find(({ name }) => name === range)?.name ?? DEFAULT_RANGE;
    const report = await this.report({ accountId, memberId }, key.id, shown, timeZone);
    const notices = await this.notices.open({ accountId }, key.id);
    return new Page('keys/show', {
      title: `Key “${key.name}”`,
      data: {
        key: { id: key.id, name: key.name, hint: key.hint, used: key.used, createdAt: key.createdAt },
        badge: badgeOf(key),
        own: own && key.state !== 'deleted',
        enabled: key.state === 'enabled',
        crumbs,
        callsHref: log({ range: shown }),
        ranges: RANGES.map(({ name, label }) => ({ href: `${path}?range=${name}`, label, current: name === shown })),
        notices: notices.map((notice) => ({ id: notice.id, ...noticeText(notice, timeZone) })),
        limits: limitsOf(key),
        groupText: this.choices.groupOf(key),
        models: key.models?.join(', '),
        pace: describeLimits(this.choices.effectiveLimits(key)),
        networks: key.networks?.join(', '),
        lastUsedAt: key.lastUsedAt,
        expiry: expiryView(key.expiresAt, timeZone, this.clock.date()),
        use:
          report &&
          keyUseView(report, {
            measure: chartMeasure(chart),
            measureHref: (measure) => `${path}?range=${shown}${measure === 'calls' ? '' : `&chart=${measure}`}`,
            barHref: (span) => log(spanParts(span)),
          }),
      },
    });
  }

  /** Undefined if the query timed out. */
  private async report(owner: Owner, id: string, range: string, timeZone: string): Promise<KeyReport | undefined> {
    const now = this.clock.date();
    const { from, to } = filterOf(usageQuery({ range }, now, timeZone), owner, now, timeZone);
    return undefinedIfTooLarge(this.reports.read({ ...owner, keyId: id, from, to }, timeZone));
  }
}

/** The owner's view of how a key was used. */
@Controller('keys/:id')
@SignedIn()
@Allows('use keys')
export class KeyUseController {
  constructor(
    private readonly pages: KeyUsePages,
    private readonly keys: OwnKeys,
    private readonly notices: KeyNotices,
  ) {}

  @Get()
  @Allows('use keys', 'view all keys')
  show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query() query: KeyUseQuery): Promise<Page> {
    return this.pages.own(visitor, id, query);
  }

  @Post('notices/:notice')
  async acknowledge(
    @CurrentVisitor() visitor: Visitor,
    @Param() { id, notice }: { readonly id: string; readonly notice: string },
    @Body() { back }: FormBody,
  ): Promise<Redirect> {
    const own = { ...changedKeys(visitor), id };
    const { name } = await this.keys.get(own);
    await this.notices.acknowledge(own, notice);
    return new Redirect(localPath(back, `/keys/${id}`), {
      tone: 'ok',
      title: 'Notice dismissed',
      text: `You will be notified of other unusual use of “${name}”.`,
    });
  }
}

const keyUseView = (report: KeyReport, links: Pick<ChartsInput, 'measure' | 'measureHref' | 'barHref'>) => ({
  charts: usageCharts({ ...report, ...links, upToNow: true, chargeName: 'Charged', seriesNames: new Map() }),
  hours: report.hours.length === 0 ? undefined : hoursOfDay(report),
  addresses: usesTable(report.addresses, 'address', 'All other addresses', 'not recorded'),
  models: usesTable(report.models, 'model', 'All other models', 'model unknown'),
  missing: report.missing,
});

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const hourText = (hour: number): string => `${hour.toString().padStart(2, '0')}:00`;

/** Calls of all days by hour of the day, in the reader's time zone. */
function hoursOfDay({ hours, scale: { timeZone } }: KeyReport): ChartWithTable {
  const bars = HOURS.map(() => ({ calls: 0, refused: 0, failed: 0, cost: 0n }));
  for (const { start, calls, refused, failed, cost } of hours) {
    const bar = bars[Number(clockTime(start, timeZone, 'minutes').slice(0, 2))];
    if (bar === undefined) continue;
    bar.calls += calls;
    bar.refused += refused;
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
    series: [
      { name: 'Failed', values: bars.map(({ failed }) => failed), class: 'fbad' },
      { name: 'Rejected', values: bars.map(({ refused }) => refused), class: 'f2' },
      { name: 'Served', values: bars.map((bar) => bar.calls - bar.refused - bar.failed), class: 'f1' },
    ],
    restName: '',
    unit: COUNT,
    order: ['Failed', 'Rejected', 'Served'],
  });
  const table = chartTable('Calls by hour of the day', 'Hour', buckets, [
    { name: 'Calls', values, unit: COUNT },
    { name: 'Rejected', values: bars.map(({ refused }) => refused), unit: COUNT },
    { name: 'Failed', values: bars.map(({ failed }) => failed), unit: COUNT },
    { name: 'Charged', values: bars.map(({ cost }) => cost), unit: EXACT_DOLLARS },
  ]);
  return { chart, table };
}

/** @param unknown label of rows without a name */
function usesTable({ rows, others }: KeyUses, kind: 'address' | 'model', rest: string, unknown: string) {
  const named = rows.map(({ name, ...use }: UsesOf) => ({ name, unknown, isAddress: kind === 'address', ...use }));
  return others === undefined ? named : [...named, { name: '', unknown: rest, isAddress: false, ...others }];
}
