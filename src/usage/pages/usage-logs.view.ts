import type { CallDetails } from '../call-details.js';
import { CALL_RESULTS, RESULT_LABELS } from '../call-result.js';
import type { FirstTokenTimes } from '../first-token-times.js';
import type { ChartScale } from '../usage-chart.js';
import type { LoggedCall } from '../usage-log.js';
import type { UsageSums } from '../usage-sums.js';
import { openedCall } from './call.view.js';
import { callRow } from './call-row.view.js';
import { usageCharts } from './usage-charts.view.js';
import { addressOf, RANGES, type UsageQuery } from './usage-query.js';

/** Where the log was entered: `before` and `after` as the address has them. */
export interface LogEntry {
  readonly before?: string;
  readonly after?: string;
  readonly open?: string;
}

export interface LogInput {
  readonly query: UsageQuery;
  readonly entry: LogEntry;
  readonly calls: readonly LoggedCall[];
  /** Sealed cursors. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
  readonly sums: UsageSums;
  readonly times: FirstTokenTimes;
  readonly scale: ChartScale;
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  /** The call whose row is open. */
  readonly opened: CallDetails | undefined;
  /** Whether the account has made any call, whatever the range and the filter. */
  readonly everUsed: boolean;
  /** The address had a cursor that is none of ours. */
  readonly lost: boolean;
}

const DIVISIONS = [
  { by: '', label: 'Total' },
  { by: 'model', label: 'By model' },
  { by: 'key', label: 'By key' },
] as const;

/** What the page of the log shows. */
export function logPage(input: LogInput) {
  const { query, entry, calls, sums, times, scale, opened } = input;
  const keyNames = new Map(input.keys.map(({ id, name }) => [id, name]));
  const chips = chipsOf(query, keyNames);
  return {
    ranges: [
      ...RANGES.map(({ name, label }) => ({
        label,
        href: addressOf(query, { range: name }),
        current: query.range === name,
      })),
      { label: 'Custom…', href: addressOf(query, { range: 'custom' }), current: query.range === 'custom' },
    ],
    divisions: DIVISIONS.map(({ by, label }) => ({ label, href: addressOf(query, { by }), current: query.by === by })),
    custom: query.range === 'custom' && { from: query.from, to: query.to, keep: kept(query, ['range', 'from', 'to']) },
    // Nothing to choose from yet.
    fresh: !input.everUsed && chips.length === 0,
    problem: query.problem,
    lost: input.lost,
    exportHref: addressOf({ ...query, by: '', size: 50 }, {}, '/usage-logs/common.csv'),
    charts: usageCharts({ sums, times, scale, upToNow: isUpToNow(query), seriesNames: keyNames }),
    ...filters(input, chips),
    rows: calls.map((call) => {
      const isOpen = opened?.call.id === call.id;
      const href = `${addressOf(query, { ...place(entry), ...(!isOpen && { open: call.id }) })}#c-${call.id}`;
      return { ...callRow(call, href, isOpen), detail: isOpen && opened ? openedCall(opened) : undefined };
    }),
    newer: input.newer && addressOf(query, { after: input.newer }),
    older: input.older && addressOf(query, { before: input.older }),
    pagerText: `Newest first, ${query.size} a page`,
    // Shown only when no row is.
    empty: calls.length > 0 ? undefined : emptiness(input, chips.length > 0),
  };
}

const isUpToNow = ({ request, range }: UsageQuery): boolean => request === '' && range !== 'custom';

const place = ({ before, after }: LogEntry): LogEntry => ({ ...(before && { before }), ...(after && { after }) });

type Chip = { readonly label: string; readonly value: string; readonly href: string };

function chipsOf(query: UsageQuery, keyNames: ReadonlyMap<string, string>): Chip[] {
  const on: readonly (readonly [name: keyof UsageQuery, label: string, value: string])[] = [
    ['request', 'Request', query.request],
    ['model', 'Model', query.model],
    ['key', 'Key', keyNames.get(query.key) ?? query.key],
    ['group', 'Group', query.group],
    ['result', 'Result', query.result && RESULT_LABELS[query.result]],
  ];
  return on
    .filter(([, , value]) => value !== '')
    .map(([name, label, value]) => ({ label, value, href: addressOf(query, { [name]: '' }) }));
}

const CLEARED = { request: '', model: '', key: '', group: '', result: '' } as const;

function filters({ query, models, groups, keys }: LogInput, chips: readonly Chip[]) {
  const choose = (all: string, values: readonly (readonly [value: string, label: string])[], chosen: string) => [
    { value: '', label: all, selected: chosen === '' },
    ...values.map(([value, label]) => ({ value, label, selected: value === chosen })),
    ...(chosen === '' || values.some(([value]) => value === chosen)
      ? []
      : [{ value: chosen, label: chosen, selected: true }]),
  ];
  const alike = (values: readonly string[]) => values.map((value) => [value, value] as const);
  return {
    request: query.request,
    models: choose('All models', alike(models), query.model),
    keys: choose(
      'All keys',
      keys.map(({ id, name }) => [id, name] as const),
      query.key,
    ),
    groups: choose('All groups', alike(groups), query.group),
    results: choose(
      'Any result',
      CALL_RESULTS.map((result) => [result, RESULT_LABELS[result]] as const),
      query.result,
    ),
    filtersOn: chips.filter(({ label }) => label !== 'Request').length,
    keep: kept(query, ['request', 'model', 'key', 'group', 'result']),
    chips,
    clear: addressOf(query, CLEARED),
  };
}

/** Parts of the address that a form does not send itself. */
function kept(query: UsageQuery, sent: readonly (keyof UsageQuery)[]): { name: string; value: string }[] {
  const left = Object.fromEntries(sent.map((name) => [name, ''])) as Partial<UsageQuery>;
  const search = new URL(addressOf(query, left), 'http://local').searchParams;
  return [...search].map(([name, value]) => ({ name, value }));
}

function emptiness({ query, everUsed }: LogInput, filtered: boolean) {
  if (query.request !== '')
    return {
      title: 'No call with this ID in your account',
      text: 'The ID is in the header x-request-id of every answer, and begins with req_.',
      action: { href: addressOf(query, CLEARED), label: 'Clear filters' },
    };
  if (filtered)
    return {
      title: 'No call matches these filters',
      text: 'Other calls of this range may: take a filter away, or choose a longer range.',
      action: { href: addressOf(query, CLEARED), label: 'Clear filters' },
    };
  if (everUsed)
    return {
      title: 'No calls in this range',
      text: 'Calls before it are still there.',
      action: { href: addressOf(query, { range: '30d' }), label: 'Show 30 days' },
    };
  return {
    title: 'No calls yet',
    text: 'Create a key and connect a client. Your first call appears here with its exact cost.',
    action: { href: '/keys/new', label: 'Create your first key', icon: 'plus' },
    other: { href: '/pricing', label: 'Browse models' },
  };
}
