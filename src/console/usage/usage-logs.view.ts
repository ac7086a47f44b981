import {
  CALL_RESULTS,
  type CallDetails,
  type ChartScale,
  type Division,
  LOG_SORTS,
  type LoggedCall,
  type LogSort,
  RESULT_LABELS,
  RESULT_TONES,
  type Span,
  UPSTREAM_RESPONSES,
  type UsageTotals,
} from '../../usage/index.js';
import { DEFAULT_GROUP } from '../../catalog/index.js';
import { clockTime, shortDay } from '../../platform/format/index.js';
import { idTime } from '../../platform/shared/index.js';
import { protocolNames } from '../web/index.js';
import { messageWithoutReason, openedCall } from './call.view.js';
import { usageCharts } from './usage-charts.view.js';
import {
  AT_A_LOSS,
  CORRECTED,
  DIVISIONS,
  logAddress,
  type LogEntry,
  RANGES,
  SERVICE,
  spanParts,
  type UsageQuery,
} from './usage-query.js';

export interface LogFigures {
  readonly totals: UsageTotals;
  readonly scale: ChartScale;
  readonly span: Span;
}

export interface LogChoices {
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  /** Of an organization. */
  readonly members: readonly { readonly id: string; readonly name: string }[];
  /** For administrators only. */
  readonly channels?: readonly string[];
}

interface LogInput extends LogChoices {
  readonly query: UsageQuery;
  readonly entry: LogEntry;
  readonly calls: readonly LoggedCall[];
  /** Sealed cursors. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
  /** Undefined if the query timed out. */
  readonly figures: LogFigures | undefined;
  readonly opened: CallDetails | undefined;
  /** Whether there is any call, regardless of range and filters. */
  readonly everUsed: boolean;
  /** Whether the URL had an invalid cursor. */
  readonly lost: boolean;
  /** Notice that calls in the range are no longer stored; undefined if all are. */
  readonly missing?: string | undefined;
}

const DIVISION_LABELS: Readonly<Record<Division | '', string>> = {
  '': 'Total',
  model: 'By model',
  key: 'By key',
  channel: 'By channel',
};

const rangesOf = (query: UsageQuery) =>
  [...RANGES, { name: 'custom', label: 'Custom…' }].map(({ name, label }) => ({
    label,
    href: logAddress(query, { range: name }),
    current: query.range === name,
  }));

export function logPage(input: LogInput) {
  const { query, entry, calls, figures, opened } = input;
  const seriesNames = new Map(input.keys.map(({ id, name }) => [id, name]));
  const chips = chipsOf(query, input);
  const hasMembers = input.members.length > 0;
  return {
    ranges: rangesOf(query),
    divisions: (['', ...DIVISIONS[query.path]] as const).map((by) => ({
      label: DIVISION_LABELS[by],
      href: logAddress(query, { by }),
      current: query.by === by,
    })),
    custom: query.range === 'custom' && {
      from: query.from,
      to: query.to,
      keep: keptFilters(query, { range: '', from: '', to: '' }),
    },
    // No calls yet: the page shows no filters.
    fresh: !input.everUsed && chips.length === 0,
    problem: query.problem,
    lost: input.lost,
    missing: input.missing,
    exportHref: logAddress({ ...query, by: '', sort: '', size: 50 }, {}, '.csv'),
    // A single call needs no chart.
    charts:
      query.request === '' &&
      figures &&
      usageCharts({
        ...figures,
        upToNow: isUpToNow(query),
        chargeName: query.path === '/admin/calls' ? 'Charged' : 'Cost',
        seriesNames,
        measure: query.chart,
        measureHref: (chart) => logAddress(query, { chart }),
        barHref: (span) => logAddress(query, spanParts(span)),
      }),
    ...filters(query, input, chips),
    rows: calls.map((call) => {
      const isOpen = opened?.call.id === call.id;
      const href = `${logAddress(query, { ...place(entry), ...(!isOpen && { open: call.id }) })}#c-${call.id}`;
      return {
        ...callRow(call, { href, isOpen, hasMembers }),
        detail: isOpen && opened ? openedCall(opened, query.path) : undefined,
      };
    }),
    newer: input.newer && logAddress(query, { after: input.newer }),
    older: input.older && logAddress(query, { before: input.older }),
    heads: sortLinks(query),
    hasMembers,
    isSorted: query.sort !== '',
    pagerText: `${SORT_LABELS[query.sort]}, ${query.size} per page`,
    // Shown only without rows.
    empty: calls.length > 0 ? undefined : emptiness(input, chips.length > 0),
  };
}

const SORT_LABELS: Readonly<Record<LogSort | '', string>> = {
  '': 'Newest first',
  cost: 'Highest cost first',
  duration: 'Longest first',
  tokens: 'Most tokens first',
};

/** Links of column headers, by column. */
const sortLinks = (query: UsageQuery) =>
  Object.fromEntries(
    (['', ...LOG_SORTS] as const).map((sort) => [
      sort || 'time',
      { href: logAddress(query, { sort }), isCurrent: query.sort === sort },
    ]),
  );

const isUpToNow = ({ request, range }: UsageQuery): boolean =>
  request === '' && RANGES.some(({ name }) => name === range);

const place = ({ before, after }: LogEntry): LogEntry => ({ ...(before && { before }), ...(after && { after }) });

function emptiness({ query, everUsed }: LogInput, filtered: boolean) {
  if (query.request !== '')
    return {
      title: 'No call with this ID',
      text: whyMissing(query),
      action: { href: logAddress(query, CLEARED), label: 'Clear filters' },
    };
  if (filtered)
    return {
      title: 'No calls match these filters',
      text: 'Remove a filter or choose a longer range.',
      action: { href: logAddress(query, CLEARED), label: 'Clear filters' },
    };
  if (everUsed)
    return {
      title: 'No calls in this range',
      text: 'Choose a longer range to see earlier calls.',
      action: { href: logAddress(query, { range: '30d' }), label: 'Show 30 days' },
    };
  return {
    title: 'No calls yet',
    text: 'Create a key and connect a client. Your first call appears here with its exact cost.',
    action: { href: '/keys/new', label: 'Create key', icon: 'plus' },
    other: { href: '/pricing', label: 'Browse models' },
  };
}

/** Why a request is not in the log. All request IDs look alike, so that causes can only be named. */
function whyMissing({ request, path }: UsageQuery): string {
  if (!request.startsWith('req_') || idTime(request) === undefined)
    return 'Enter the whole request ID. It starts with req_ and is in the x-request-id header of every response.';
  const own = path === '/admin/calls' ? '' : ' Calls of other accounts are not shown.';
  return `Requests without a valid API key are not recorded: if the response had status 401, check the key that the client sends.${own}`;
}

const MAX_CHARACTERS = 60;

/** Narrow columns cut off the end, so the most informative parts come first. */
const contextOf = ({ protocol, key, group }: LoggedCall): string =>
  [protocolNames(protocol).short, key, group === DEFAULT_GROUP ? '' : group].filter((text) => text !== '').join(' · ');

/** Who made a call of an organization: a member, or a service key by its name. */
const madeBy = ({ member, key }: LoggedCall): string => member || `${key} (service key)`;

interface RowPlace {
  /** Expands or collapses the row. */
  readonly href: string;
  readonly isOpen: boolean;
  /** Whether there is a column of members. */
  readonly hasMembers: boolean;
}

const callRow = (call: LoggedCall, { href, isOpen, hasMembers }: RowPlace) => ({
  id: call.id,
  href,
  isOpen,
  at: call.createdAt,
  model: call.model,
  context: contextOf(call),
  madeBy: hasMembers && madeBy(call),
  prompt: call.promptTokens,
  completion: call.completionTokens,
  running: call.result === 'open',
  cost: call.cost,
  firstTokenMs: call.firstTokenMs,
  durationMs: call.durationMs,
  badge: { tone: RESULT_TONES[call.result], label: RESULT_LABELS[call.result] },
  reason: call.errorReason,
  why: shortened(messageWithoutReason(call)),
  attempts: call.attempts !== null && call.attempts > 1 ? call.attempts : undefined,
});

const shortened = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1).trimEnd()}…` : text;

interface Chip {
  readonly label: string;
  readonly value: string;
  readonly href: string;
}

type FilterName = 'request' | 'user' | 'model' | 'key' | 'member' | 'group' | 'channel' | 'upstream' | 'result';

const CLEARED = {
  request: '',
  user: '',
  model: '',
  key: '',
  member: '',
  group: '',
  channel: '',
  upstream: '',
  result: '',
} as const satisfies Record<FilterName, ''>;

/** Text filters, which stay visible on phones. */
const TYPED: readonly string[] = ['Request', 'User', 'Time'];

const DEFAULT = { range: '24h', from: '', to: '' };

/** `27 Nov, 13:00 to 27 Nov, 14:00`. */
function spanText({ from, to, timeZone }: UsageQuery): string {
  const text = (moment: string): string =>
    `${shortDay(new Date(moment), timeZone)}, ${clockTime(new Date(moment), timeZone, 'minutes')}`;
  return `${text(from)} to ${text(to)}`;
}

type Choices = readonly (readonly [value: string, label: string])[];

const RESULTS: Choices = [
  ...CALL_RESULTS.map((result) => [result, RESULT_LABELS[result]] as const),
  [CORRECTED, 'Usage corrected'],
];
const ADMIN_RESULTS: Choices = [...RESULTS, [AT_A_LOSS, 'Cost more than charged']];

function chipsOf(query: UsageQuery, { keys, members }: LogChoices): Chip[] {
  const on: readonly (readonly [name: FilterName, label: string, value: string])[] = [
    ['request', 'Request', query.request],
    ['user', 'User', query.user],
    ['model', 'Model', query.model],
    ['key', 'Key', keys.find(({ id }) => id === query.key)?.name ?? query.key],
    ['member', 'Member', labelIn(memberChoices(members), query.member)],
    ['group', 'Group', query.group],
    ['channel', 'Channel', query.channel],
    ['upstream', 'Upstream', labelIn(UPSTREAM_RESPONSES, query.upstream)],
    ['result', 'Result', labelIn(ADMIN_RESULTS, query.result)],
  ];
  const time =
    query.range === 'span' ? [{ label: 'Time', value: spanText(query), href: logAddress(query, DEFAULT) }] : [];
  return [
    ...time,
    ...on
      .filter(([, , value]) => value !== '')
      .map(([name, label, value]) => ({ label, value, href: logAddress(query, { [name]: '' }) })),
  ];
}

function filters(query: UsageQuery, { models, groups, keys, members, channels }: LogChoices, chips: readonly Chip[]) {
  return {
    request: query.request,
    user: query.user,
    models: choose('All models', asChoices(models), query.model),
    keys: choose(
      'All keys',
      keys.map(({ id, name }) => [id, name] as const),
      query.key,
    ),
    members: members.length > 0 && choose('All members', memberChoices(members), query.member),
    groups: choose('All groups', asChoices(groups), query.group),
    channels: channels && choose('All channels', asChoices(channels), query.channel),
    upstreams: choose('Any response', UPSTREAM_RESPONSES, query.upstream),
    results: choose('Any result', channels ? ADMIN_RESULTS : RESULTS, query.result),
    sorts: Object.entries(SORT_LABELS).map(([value, label]) => ({ value, label, selected: value === query.sort })),
    filtersOn: chips.filter(({ label }) => !TYPED.includes(label)).length,
    // Administrators cannot select a key, so the one in the URL is kept.
    keep: keptFilters(query, { ...CLEARED, sort: '', ...(channels && { key: query.key }) }),
    chips,
    clear: logAddress(query, { ...CLEARED, ...(query.range === 'span' && DEFAULT) }),
  };
}

const memberChoices = (members: LogChoices['members']): Choices => [
  ...members.map(({ id, name }) => [id, name] as const),
  [SERVICE, 'Service keys'],
];

/** Query parameters to keep as hidden fields. @param own empty values of the fields that the form has itself */
function keptFilters(query: UsageQuery, own: Partial<UsageQuery>): { name: string; value: string }[] {
  const search = new URL(logAddress(query, own), 'http://local').searchParams;
  return [...search].map(([name, value]) => ({ name, value }));
}

const asChoices = (values: readonly string[]): Choices => values.map((value) => [value, value] as const);

const labelIn = (choices: Choices, value: string): string => choices.find(([name]) => name === value)?.[1] ?? value;

/** Includes the selected value even if it is not among the options. */
const choose = (all: string, values: Choices, chosen: string) => [
  { value: '', label: all, selected: chosen === '' },
  ...values.map(([value, label]) => ({ value, label, selected: value === chosen })),
  ...(chosen === '' || values.some(([value]) => value === chosen)
    ? []
    : [{ value: chosen, label: chosen, selected: true }]),
];
