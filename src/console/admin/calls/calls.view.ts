import { type CallBackground, type CallDetails, type LoggedCall } from '../../../usage/index.js';
import {
  type AllCallsPage,
  type LogEntry,
  type LogFigures,
  logAddress,
  logPage,
  type UsageQuery,
} from '../../usage/index.js';
import { exactUsd } from '../../../platform/format/index.js';
import { marginOf } from '../margin.js';

/** Everything that a page of everybody's log is made of. */
export interface CallsInput {
  readonly query: UsageQuery;
  readonly entry: LogEntry;
  /** The address had a cursor that is none of ours. */
  readonly lost: boolean;
  /** Undefined: there are so many calls that not even a page of them was found in time. */
  readonly list: AllCallsPage | undefined;
  /** Undefined: they could not be added up in time. */
  readonly figures: LogFigures | undefined;
  readonly opened: CallDetails | undefined;
  /** Sealed cursors. */
  readonly newer?: string | undefined;
  readonly older?: string | undefined;
}

const NO_CHOICES = { models: [], groups: [], channels: [], keys: [] };

/** The users' log, with what only operators see of each call. */
export function callsPage({ list, newer, older, ...input }: CallsInput) {
  const { query } = input;
  const calls = list?.page.calls ?? [];
  const everUsed = list?.everUsed ?? true;
  const page = logPage({ ...input, ...(list?.choices ?? NO_CHOICES), calls, everUsed, newer, older });
  const byId = new Map(calls.map((call) => [call.id, call]));
  return {
    ...page,
    missing: list?.missing,
    rows: page.rows.map((row) => ({
      ...row,
      ...operatorsPart(query, byId.get(row.id), list?.backgrounds.get(row.id)),
    })),
    // It is said in their place.
    chartsTooLarge: list !== undefined && input.figures === undefined,
    tooLarge: list === undefined,
    shorter: logAddress(query, { range: '24h' }),
    empty: list === undefined ? undefined : page.empty && emptiness(query, page.empty),
  };
}

/** What of a row its owner does not see, but for what the call was charged. */
function operatorsPart(query: UsageQuery, call: LoggedCall | undefined, background: CallBackground | undefined) {
  if (call === undefined || background === undefined) return {};
  const { account, accountId, upstreamStatus, upstreamCost } = background;
  return {
    account: account || accountId,
    accountHref: logAddress(query, { user: account || accountId }),
    channel: call.channel,
    upstreamStatus,
    // An open call costs nothing yet that could be told.
    costText: call.cost === null ? '' : costText(call.cost, upstreamCost),
    isLoss: marginOf(call.cost, upstreamCost)?.isLoss === true,
  };
}

/** `cost $0.0042522, margin 20%` */
function costText(charged: bigint, cost: bigint | null): string {
  const margin = marginOf(charged, cost);
  if (cost === null || margin === undefined) return 'cost –';
  if (cost === 0n && charged === 0n) return 'no cost';
  return `cost ${exactUsd(cost)}${charged === 0n ? '' : `, margin ${margin.share}`}`;
}

interface Emptiness {
  readonly title: string;
  readonly text: string;
  readonly action: { readonly href: string; readonly label: string };
}

/** In the words of whoever looks at everybody's calls. */
function emptiness({ request, user }: UsageQuery, { title, text, action }: Emptiness): Emptiness {
  if (request !== '') return { title: 'No call has this ID', text, action };
  if (user !== '')
    return { title, text: `No call of “${user}” matches: the address must be that of an account, whole.`, action };
  if (title !== 'No calls yet') return { title, text, action };
  return {
    title,
    text: 'The first call of anybody appears here, with its channel, what it was charged and what it cost.',
    action: { href: '/admin/routing', label: 'Try where a call would go' },
  };
}
