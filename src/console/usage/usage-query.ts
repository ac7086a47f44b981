import { addDays, dayOf, idTime, isDay, startOfDay } from '../../platform/shared/index.js';
import { CALL_RESULTS, type CallResult, type Division, upstreamResponse, type UsageFilter } from '../../usage/index.js';

const HOUR_MS = 60 * 60 * 1000;

/** The ranges that can be chosen by a press, up to now. */
export const RANGES: readonly { readonly name: string; readonly label: string; readonly ms: number }[] = [
  { name: '1h', label: '1 hour', ms: HOUR_MS },
  { name: '24h', label: '24 hours', ms: 24 * HOUR_MS },
  { name: '7d', label: '7 days', ms: 7 * 24 * HOUR_MS },
  { name: '30d', label: '30 days', ms: 30 * 24 * HOUR_MS },
];
const DEFAULT_RANGE = RANGES[1];

/** The log of one's own calls, and the operators' of everybody's. */
export type LogPath = '/usage-logs/common' | '/admin/calls';

/** Among operators' results: it cost more than was charged for it. */
export const AT_A_LOSS = 'at-a-loss';

/** Among results: its upstream reported a usage that cannot be true. */
export const CORRECTED = 'corrected';

/** What the addresses of the log say; the cursor and the opened row stand apart from it. */
export interface UsageQuery {
  readonly path: LogPath;
  /** A name of RANGES, or `custom`. */
  readonly range: string;
  /** Days, both within the range; of a custom one. */
  readonly from: string;
  readonly to: string;
  readonly request: string;
  readonly model: string;
  readonly key: string;
  readonly group: string;
  readonly result: CallResult | typeof AT_A_LOSS | typeof CORRECTED | '';
  /** In operators' addresses alone: the id of an account or its email address, a channel, what the upstream answered. */
  readonly user: string;
  readonly channel: string;
  readonly upstream: string;
  readonly by: Division | '';
  readonly size: number;
  /** What could not be understood of the address, in words. */
  readonly problem: string;
}

/** What the bars of the charts can be divided by. */
export const DIVISIONS: Readonly<Record<LogPath, readonly Division[]>> = {
  '/usage-logs/common': ['model', 'key'],
  '/admin/calls': ['model', 'channel'],
};

export type AddressParts = Readonly<Record<string, string | readonly string[] | undefined>>;

const SIZES = [25, 50, 100];
const DEFAULT_SIZE = 50;
/** Longer than anything that can be filtered by. */
const MAX_CHARACTERS = 300;
const MAX_DAYS = 366;

/** Reads an address. What is wrong in it is left out; of the range, that is said. */
export function usageQuery(
  parts: AddressParts,
  now: Date,
  timeZone: string,
  path: LogPath = '/usage-logs/common',
): UsageQuery {
  const text = (name: string): string => textOf(parts[name]).trim().slice(0, MAX_CHARACTERS);
  const forOperators = (name: string): string => (path === '/admin/calls' ? text(name) : '');
  const size = Number(text('size'));
  return {
    path,
    ...rangeOf(text, now, timeZone),
    request: text('request'),
    model: text('model'),
    key: text('key'),
    group: text('group'),
    result: resultIn(text('result'), path),
    user: forOperators('user'),
    channel: forOperators('channel'),
    upstream: upstreamResponse(forOperators('upstream')) === undefined ? '' : text('upstream'),
    by: DIVISIONS[path].find((division) => division === text('by')) ?? '',
    size: SIZES.includes(size) ? size : DEFAULT_SIZE,
  };
}

function resultIn(text: string, path: LogPath): UsageQuery['result'] {
  if (text === CORRECTED) return CORRECTED;
  if (text === AT_A_LOSS && path === '/admin/calls') return AT_A_LOSS;
  return CALL_RESULTS.find((result) => result === text) ?? '';
}

/** PostgreSQL has no NUL in its texts. */
const textOf = (part: string | readonly string[] | undefined): string =>
  (typeof part === 'string' ? part : (part?.at(-1) ?? '')).replaceAll('\0', '');

function rangeOf(
  text: (name: string) => string,
  now: Date,
  timeZone: string,
): Pick<UsageQuery, 'range' | 'from' | 'to' | 'problem'> {
  const today = dayOf(now, timeZone);
  if (text('range') !== 'custom') {
    const known = RANGES.find(({ name }) => name === text('range')) ?? DEFAULT_RANGE;
    return { range: known?.name ?? '', from: '', to: '', problem: '' };
  }
  const [from, to] = [text('from') || today, text('to') || today];
  const wrong = (problem: string) => ({ range: 'custom', from: today, to: today, problem });
  if (!isDay(from) || !isDay(to)) return wrong('Enter dates in the form 2026-11-20.');
  if (from > to) return wrong('Enter a start date that is not after the end date.');
  if (addDays(from, MAX_DAYS) <= to) return wrong('Enter a range of at most 366 days.');
  return { range: 'custom', from, to, problem: '' };
}

/**
 * Which calls that means. A request is looked for at the time that its id says, whatever the range.
 * @param accountId undefined: of every account
 */
export function filterOf<AccountId extends string | undefined>(
  query: UsageQuery,
  accountId: AccountId,
  now: Date,
  timeZone: string,
): UsageFilter & { readonly accountId: AccountId } {
  return {
    accountId,
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
  // What comes in while the page is made belongs to it.
  const to = new Date(now.getTime() + 1000);
  const known = RANGES.find(({ name }) => name === query.range);
  if (known !== undefined) return { from: new Date(now.getTime() - known.ms), to };
  return { from: startOfDay(query.from, timeZone), to: startOfDay(addDays(query.to, 1), timeZone) };
}

function momentOf(requestId: string, now: Date): { readonly from: Date; readonly to: Date } {
  const time = requestId.startsWith('req_') ? idTime(requestId) : undefined;
  if (time === undefined || time > now.getTime() + 24 * HOUR_MS) return { from: now, to: now };
  return { from: new Date(time), to: new Date(time + 1) };
}

/** The address of the log with these changes; what is as usual is left out. @param ending of its path: `.csv` */
export function logAddress(
  query: UsageQuery,
  changes: Partial<UsageQuery> & { readonly before?: string; readonly after?: string; readonly open?: string } = {},
  ending = '',
): string {
  const { problem: _, path, ...said } = { ...query, ...changes };
  const custom = said.range === 'custom';
  const usual: Readonly<Record<string, unknown>> = { range: DEFAULT_RANGE?.name, size: DEFAULT_SIZE };
  const parts = Object.entries(said).filter(
    ([name, value]) => value !== '' && value !== usual[name] && (custom || (name !== 'from' && name !== 'to')),
  );
  const search = new URLSearchParams(parts.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return search === '' ? path + ending : `${path}${ending}?${search}`;
}
