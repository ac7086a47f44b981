import { CALL_RESULTS, RESULT_LABELS, UPSTREAM_RESPONSES } from '../../usage/index.js';
import { AT_A_LOSS, CORRECTED, logAddress, type UsageQuery } from './usage-query.js';

/** What a log can be narrowed to. */
export interface LogChoices {
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  /** For operators alone. */
  readonly channels?: readonly string[];
}

export interface Chip {
  readonly label: string;
  readonly value: string;
  readonly href: string;
}

type FilterName = 'request' | 'user' | 'model' | 'key' | 'group' | 'channel' | 'upstream' | 'result';

/** The address without any filter. */
export const CLEARED = {
  request: '',
  user: '',
  model: '',
  key: '',
  group: '',
  channel: '',
  upstream: '',
  result: '',
} as const satisfies Record<FilterName, ''>;

/** What is typed rather than chosen, and so does not fold away on phones. */
const TYPED: readonly string[] = ['Request', 'User'];

type Choices = readonly (readonly [value: string, label: string])[];

const RESULTS: Choices = [
  ...CALL_RESULTS.map((result) => [result, RESULT_LABELS[result]] as const),
  [CORRECTED, 'Usage corrected'],
];
const OPERATORS_RESULTS: Choices = [...RESULTS, [AT_A_LOSS, 'Cost more than charged']];

/** The filters that are on. */
export function chipsOf(query: UsageQuery, { keys }: LogChoices): Chip[] {
  const on: readonly (readonly [name: FilterName, label: string, value: string])[] = [
    ['request', 'Request', query.request],
    ['user', 'User', query.user],
    ['model', 'Model', query.model],
    ['key', 'Key', keys.find(({ id }) => id === query.key)?.name ?? query.key],
    ['group', 'Group', query.group],
    ['channel', 'Channel', query.channel],
    ['upstream', 'Upstream', labelIn(UPSTREAM_RESPONSES, query.upstream)],
    ['result', 'Result', labelIn(OPERATORS_RESULTS, query.result)],
  ];
  return on
    .filter(([, , value]) => value !== '')
    .map(([name, label, value]) => ({ label, value, href: logAddress(query, { [name]: '' }) }));
}

/** The form of filters. */
export function filters(query: UsageQuery, { models, groups, keys, channels }: LogChoices, chips: readonly Chip[]) {
  return {
    request: query.request,
    user: query.user,
    models: choose('All models', alike(models), query.model),
    keys: choose(
      'All keys',
      keys.map(({ id, name }) => [id, name] as const),
      query.key,
    ),
    groups: choose('All groups', alike(groups), query.group),
    channels: channels && choose('All channels', alike(channels), query.channel),
    upstreams: choose('Any answer', UPSTREAM_RESPONSES, query.upstream),
    results: choose('Any result', channels ? OPERATORS_RESULTS : RESULTS, query.result),
    filtersOn: chips.filter(({ label }) => !TYPED.includes(label)).length,
    // A key is chosen from among one's own; of everybody's it comes with an address, and stays in it.
    keep: keptFilters(query, { ...CLEARED, ...(channels && { key: query.key }) }),
    chips,
    clear: logAddress(query, CLEARED),
  };
}

/** Parts of the address that a form does not send itself. @param left what it sends, as nothing */
export function keptFilters(query: UsageQuery, left: Partial<UsageQuery>): { name: string; value: string }[] {
  const search = new URL(logAddress(query, left), 'http://local').searchParams;
  return [...search].map(([name, value]) => ({ name, value }));
}

const alike = (values: readonly string[]): Choices => values.map((value) => [value, value] as const);

const labelIn = (choices: Choices, value: string): string => choices.find(([name]) => name === value)?.[1] ?? value;

/** What is chosen is offered too when there is nothing of it. */
const choose = (all: string, values: Choices, chosen: string) => [
  { value: '', label: all, selected: chosen === '' },
  ...values.map(([value, label]) => ({ value, label, selected: value === chosen })),
  ...(chosen === '' || values.some(([value]) => value === chosen)
    ? []
    : [{ value: chosen, label: chosen, selected: true }]),
];
