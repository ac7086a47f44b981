import { Injectable } from '@nestjs/common';
import { addDays, dayOf, idTime, isDay, startOfDay } from '../../platform/shared/index.js';
import {
  CALL_RESULTS,
  type CallOutcome,
  type CallOwner,
  type Division,
  LOG_SORTS,
  type LogPosition,
  type LogSort,
  type LogStart,
  type Span,
  upstreamResponse,
  type UsageFilter,
} from '../../usage/index.js';
import { Cursors } from '../web/index.js';

const HOUR_MS = 60 * 60 * 1000;

/** Selectable ranges, up to now. */
export const RANGES: readonly { readonly name: string; readonly label: string; readonly ms: number }[] = [
  { name: '1h', label: '1 hour', ms: HOUR_MS },
  { name: '24h', label: '24 hours', ms: 24 * HOUR_MS },
  { name: '7d', label: '7 days', ms: 7 * 24 * HOUR_MS },
  { name: '30d', label: '30 days', ms: 30 * 24 * HOUR_MS },
];
const DEFAULT_RANGE = RANGES[1];

/** The log of an account, and that of all accounts for administrators. */
export type LogPath = '/usage-logs/common' | '/admin/calls';

/** Result filter for administrators: the call cost more than was charged. */
export const AT_A_LOSS = 'at-a-loss';

/** Result filter: the upstream reported implausible usage. */
export const CORRECTED = 'corrected';

/** Filters and layout in a log URL, without cursor and expanded row. */
export interface UsageQuery {
  readonly path: LogPath;
  /** A name of RANGES, `custom` for days, or `span` for the time of a bar. */
  readonly range: string;
  /** First and last day of a custom range; start and end of a span, ISO 8601. */
  readonly from: string;
  readonly to: string;
  readonly request: string;
  readonly model: string;
  readonly key: string;
  readonly group: string;
  /** ID of a member of the organization, or `service`. */
  readonly member: string;
  readonly result: CallOutcome | typeof AT_A_LOSS | typeof CORRECTED | '';
  /** For administrators: account ID or email address, channel, upstream response. */
  readonly user: string;
  readonly channel: string;
  readonly upstream: string;
  readonly by: Division | '';
  /** The figure of the chart. */
  readonly chart: ChartMeasure;
  /** Empty: newest first. */
  readonly sort: LogSort | '';
  readonly size: number;
  /** Message about an invalid range; empty if valid. */
  readonly problem: string;
  readonly timeZone: string;
}

export const DIVISIONS: Readonly<Record<LogPath, readonly Division[]>> = {
  '/usage-logs/common': ['model', 'key'],
  '/admin/calls': ['model', 'channel'],
};

export type AddressParts = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Figures that a chart of usage can show. */
const CHART_MEASURES = ['calls', 'cost', 'tokens', 'latency'] as const;
export type ChartMeasure = (typeof CHART_MEASURES)[number];

export const chartMeasure = (text: unknown): ChartMeasure =>
  CHART_MEASURES.find((measure) => measure === text) ?? 'calls';

const SIZES = [25, 50, 100];
const DEFAULT_SIZE = 50;
const MAX_CHARACTERS = 300;
const MAX_DAYS = 366;

/** Parses a URL. Invalid parts are ignored; an invalid range sets `problem`. */
export function usageQuery(
  parts: AddressParts,
  now: Date,
  timeZone: string,
  path: LogPath = '/usage-logs/common',
): UsageQuery {
  const text = (name: string): string => textOf(parts[name]).trim().slice(0, MAX_CHARACTERS);
  const forAdmins = (name: string): string => (path === '/admin/calls' ? text(name) : '');
  const size = Number(text('size'));
  return {
    path,
    ...rangeOf(text, now, timeZone),
    request: text('request'),
    model: text('model'),
    key: text('key'),
    group: text('group'),
    member: path === '/usage-logs/common' ? text('member') : '',
    result: resultIn(text('result'), path),
    user: forAdmins('user'),
    channel: forAdmins('channel'),
    upstream: upstreamResponse(forAdmins('upstream')) === undefined ? '' : text('upstream'),
    by: DIVISIONS[path].find((division) => division === text('by')) ?? '',
    chart: chartMeasure(text('chart')),
    sort: LOG_SORTS.find((sort) => sort === text('sort')) ?? '',
    timeZone,
    size: SIZES.includes(size) ? size : DEFAULT_SIZE,
  };
}

function resultIn(text: string, path: LogPath): UsageQuery['result'] {
  if (text === CORRECTED) return CORRECTED;
  if (text === AT_A_LOSS && path === '/admin/calls') return AT_A_LOSS;
  return CALL_RESULTS.find((result) => result === text) ?? '';
}

/** The database rejects NUL. */
const textOf = (part: string | readonly string[] | undefined): string =>
  (typeof part === 'string' ? part : (part?.at(-1) ?? '')).replaceAll('\0', '');

function rangeOf(
  text: (name: string) => string,
  now: Date,
  timeZone: string,
): Pick<UsageQuery, 'range' | 'from' | 'to' | 'problem'> {
  const today = dayOf(now, timeZone);
  if (text('range') === 'span' && isSpan(text('from'), text('to')))
    return { range: 'span', from: text('from'), to: text('to'), problem: '' };
  if (text('range') !== 'custom') {
    const known = RANGES.find(({ name }) => name === text('range')) ?? DEFAULT_RANGE;
    return { range: known?.name ?? '', from: '', to: '', problem: '' };
  }
  const [from, to] = [text('from') || today, text('to') || today];
  const wrong = (problem: string) => ({ range: 'custom', from: today, to: today, problem });
  if (!isDay(from) || !isDay(to)) return wrong('Enter dates in the form 2026-11-20.');
  if (from > to) return wrong('Enter a start date on or before the end date.');
  if (addDays(from, MAX_DAYS) <= to) return wrong('Enter a range of at most 366 days.');
  return { range: 'custom', from, to, problem: '' };
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{3})?)?Z$/;

function isSpan(from: string, to: string): boolean {
  const ms = MOMENT.test(from) && MOMENT.test(to) ? Date.parse(to) - Date.parse(from) : Number.NaN;
  return ms > 0 && ms <= MAX_DAYS * 24 * HOUR_MS;
}

/** The member filter of calls of service keys. */
export const SERVICE = 'service';

/**
 * A request ID overrides the range with its own time. The member filter has no effect for owners who are one member.
 * @param owner undefined for all accounts
 */
export function filterOf(query: UsageQuery, owner: CallOwner | undefined, now: Date, timeZone: string): UsageFilter {
  const chosen = query.member === SERVICE ? null : query.member || undefined;
  return {
    accountId: owner?.accountId,
    memberId: owner?.memberId === undefined ? chosen : owner.memberId,
    ...spanOf(query, now, timeZone),
    ...(query.request !== '' && { requestId: query.request }),
    ...(query.model !== '' && { model: query.model }),
    ...(query.key !== '' && { keyId: query.key }),
    ...(query.group !== '' && { group: query.group }),
    ...resultFilter(query.result),
    ...(query.channel !== '' && { channel: query.channel }),
    ...(query.upstream !== '' && { upstream: upstreamResponse(query.upstream) }),
  };
}

function resultFilter(result: UsageQuery['result']): Pick<UsageFilter, 'result' | 'atALoss' | 'isCorrected'> {
  if (result === '') return {};
  if (result === AT_A_LOSS) return { atALoss: true };
  return result === CORRECTED ? { isCorrected: true } : { result };
}

function spanOf(query: UsageQuery, now: Date, timeZone: string): { readonly from: Date; readonly to: Date } {
  if (query.request !== '') return momentOf(query.request, now);
  // Includes calls that arrive while the page is built.
  const to = new Date(now.getTime() + 1000);
  const known = RANGES.find(({ name }) => name === query.range);
  if (known !== undefined) return { from: new Date(now.getTime() - known.ms), to };
  if (query.range === 'span') return { from: new Date(query.from), to: new Date(query.to) };
  return { from: startOfDay(query.from, timeZone), to: startOfDay(addDays(query.to, 1), timeZone) };
}

function momentOf(requestId: string, now: Date): { readonly from: Date; readonly to: Date } {
  const time = requestId.startsWith('req_') ? idTime(requestId) : undefined;
  if (time === undefined || time > now.getTime() + 24 * HOUR_MS) return { from: now, to: now };
  return { from: new Date(time), to: new Date(time + 1) };
}

/** URL of the log with changes applied; defaults are omitted. @param suffix of the path: `.csv` */
export function logAddress(
  query: UsageQuery,
  changes: Partial<UsageQuery> & { readonly before?: string; readonly after?: string; readonly open?: string } = {},
  suffix = '',
): string {
  const { problem: _, timeZone: _zone, path, ...rest } = { ...query, ...changes };
  const custom = rest.range === 'custom' || rest.range === 'span';
  const defaults: Readonly<Record<string, unknown>> = {
    range: DEFAULT_RANGE?.name,
    size: DEFAULT_SIZE,
    chart: 'calls',
  };
  const parts = Object.entries(rest).filter(
    ([name, value]) => value !== '' && value !== defaults[name] && (custom || (name !== 'from' && name !== 'to')),
  );
  const search = new URLSearchParams(parts.map(([name, value]): [string, string] => [name, String(value)]))
    .toString()
    // Needs no escape in a query.
    .replaceAll('%3A', ':');
  return search === '' ? path + suffix : `${path}${suffix}?${search}`;
}

/** Query parameters of the time of a bar. They are short: a page has two links per bar. */
export const spanParts = ({ from, to }: Span) => ({ range: 'span', from: shortMoment(from), to: shortMoment(to) });

const shortMoment = (moment: Date): string => moment.toISOString().replace(/(?::00)?\.000Z$/, 'Z');

/** Position of a page: sealed cursors `before` and `after`; `open` is the ID of the expanded call. */
export interface LogEntry {
  readonly before?: string;
  readonly after?: string;
  readonly open?: string;
}

/** Seals and opens the cursors of log URLs. */
@Injectable()
export class LogCursors {
  constructor(private readonly cursors: Cursors) {}

  /** `lost` if the cursor is invalid: the newest calls are shown. */
  startOf(list: LogList, { before, after }: LogEntry): { readonly start: LogStart; readonly lost: boolean } {
    const sealed = before ?? after;
    if (sealed === undefined) return { start: undefined, lost: false };
    const { at, id, value } = this.cursors.open(listName(list), sealed) ?? {};
    if (at === undefined || id === undefined) return { start: undefined, lost: true };
    const position: LogPosition = value === undefined ? [at, id] : [at, id, value];
    return { start: before === undefined ? { after: position } : { before: position }, lost: false };
  }

  seal(list: LogList, position: LogPosition | undefined): string | undefined {
    if (position === undefined) return undefined;
    const [at, id, value] = position;
    return this.cursors.seal(listName(list), { at, id, ...(value !== undefined && { value }) });
  }
}

/** Cursors of a sorted log are invalid in others. */
type LogList = Pick<UsageQuery, 'path' | 'sort'>;

const listName = ({ path, sort }: LogList): string =>
  `${path === '/admin/calls' ? 'calls' : 'usage'}${sort && ` by ${sort}`}`;

export function entryOf(parts: AddressParts): LogEntry {
  const text = (name: string): string | undefined => {
    const part = parts[name];
    return typeof part === 'string' && part !== '' ? part : undefined;
  };
  const [before, after, open] = [text('before'), text('after'), text('open')];
  return { ...(before && { before }), ...(!before && after && { after }), ...(open && { open }) };
}
