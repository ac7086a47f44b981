import { exactUsd, UNKNOWN } from '../../../platform/format/index.js';
import type { CallAttempt, CallBackground, CallDetails, LoggedCall } from '../../../usage/index.js';
import {
  type AllCallsPage,
  callPage,
  type FoundAccount,
  logAddress,
  type LogEntry,
  type LogFigures,
  logPage,
  type UsageQuery,
} from '../../usage/index.js';
import { accountPath } from '../list-address.js';
import { marginOf, marginText } from '../models/model-margins.js';

export interface CallsInput {
  readonly query: UsageQuery;
  readonly entry: LogEntry;
  /** Whether the query string has an invalid cursor. */
  readonly lost: boolean;
  /** Undefined: not filtered by user. */
  readonly user: FoundAccount | undefined;
  /** Undefined: the query timed out. */
  readonly list: AllCallsPage | undefined;
  /** Undefined: the aggregation timed out. */
  readonly figures: LogFigures | undefined;
  readonly opened: CallDetails | undefined;
  /** Sealed cursors. */
  readonly newer?: string | undefined;
  readonly older?: string | undefined;
}

const NO_CHOICES = { models: [], groups: [], channels: [], keys: [], members: [] };

/** The usage logs with the columns for administrators. */
export function callsPage({ list, newer, older, user, ...input }: CallsInput) {
  const { query } = input;
  const calls = list?.page.calls ?? [];
  const everUsed = list?.everUsed ?? true;
  const page = logPage({ ...input, ...(list?.choices ?? NO_CHOICES), calls, everUsed, newer, older });
  const mustChoose = user !== undefined && user.others.length > 0;
  const byId = new Map(calls.map((call) => [call.id, call]));
  return {
    ...page,
    missing: list?.missing,
    ...(mustChoose && { charts: undefined, users: usersToChoose(query, user) }),
    rows: page.rows.map((row) => {
      const added = administratorPart(query, byId.get(row.id), list?.backgrounds.get(row.id));
      return { ...row, ...added, detail: row.detail && { ...row.detail, costText: added?.costText } };
    }),
    chartsTooLarge: list !== undefined && input.figures === undefined,
    tooLarge: list === undefined,
    shorter: logAddress(query, { range: '24h' }),
    empty: list === undefined || mustChoose ? undefined : page.empty && emptiness(query, page.empty),
  };
}

/** Several users match: links to the calls of each. */
const usersToChoose = (query: UsageQuery, { others, hasMore }: FoundAccount) => ({
  text: hasMore
    ? `The first ${others.length} users whose email address contains “${query.user}”:`
    : `Users whose email address contains “${query.user}”:`,
  links: others.map((email) => ({ label: email, href: logAddress(query, { user: email }) })),
});

/** Columns that users do not see. */
function administratorPart(query: UsageQuery, call: LoggedCall | undefined, background: CallBackground | undefined) {
  if (call === undefined || background === undefined) return undefined;
  const { account, accountId, upstreamStatus, upstreamCost } = background;
  const margin = marginOf(call.cost, upstreamCost);
  return {
    account: account || accountId,
    accountHref: logAddress(query, { user: account || accountId }),
    sentTo: [call.channel, upstreamStatus ?? ''].filter((text) => text !== '').join(' · '),
    // The cost of a running call is not known yet.
    costText: call.cost === null ? '' : costText(call.cost, upstreamCost),
    margin: marginLabel(call.cost, margin),
    isLoss: margin?.isLoss === true,
  };
}

/** Free calls have no share. */
function marginLabel(charged: bigint | null, margin: ReturnType<typeof marginOf>): string {
  if (charged === 0n) return margin?.isLoss === true ? 'loss' : UNKNOWN;
  return margin?.share ?? UNKNOWN;
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

/** Empty states for administrators. */
function emptiness({ request, user }: UsageQuery, { title, text, action }: Emptiness): Emptiness {
  if (request !== '') return { title: 'No call has this ID', text, action };
  if (user !== '')
    return {
      title,
      text: `No calls by “${user}” match. Enter an email address, a part of one, or an account ID.`,
      action,
    };
  if (title !== 'No calls yet') return { title, text, action };
  return {
    title,
    text: 'Calls by all users appear here, with their channel, charge and cost.',
    action: { href: '/admin/routing', label: 'Open routing dry run' },
  };
}

const PATH = '/admin/calls';

/** Call details for administrators: adds the user, the attempts and their costs. */
export function callOfAll(details: CallDetails, background: CallBackground | undefined, now: Date, timeZone: string) {
  const { call, attempts } = details;
  const cost = background?.upstreamCost ?? null;
  return {
    ...callPage(details, now, { timeZone, isAdmin: true, path: PATH }),
    account: background && {
      name: background.account || background.accountId,
      href: accountPath(background.accountId),
      calls: `${PATH}?user=${encodeURIComponent(background.account || background.accountId)}`,
    },
    channelHref: call.channel && `${PATH}?channel=${encodeURIComponent(call.channel)}`,
    upstreamCost: cost,
    costNote: costNote(call.cost, cost, attempts.length),
    attemptRows: attempts.map(tried),
  };
}

function costNote(charged: bigint | null, cost: bigint | null, attempts: number): string {
  const margin = marginOf(charged, cost);
  if (margin !== undefined) return marginText(margin);
  return attempts === 0 ? 'nothing was sent upstream' : 'unknown for at least one attempt';
}

function tried(attempt: CallAttempt) {
  const { ordinal, channel, credential, upstreamModel, upstreamStatus, outcome, reason, durationMs } = attempt;
  const succeeded = outcome === 'succeeded';
  return {
    ordinal,
    channel,
    channelHref: `${PATH}?channel=${encodeURIComponent(channel)}`,
    credential,
    upstreamModel,
    upstreamStatus,
    upstreamRequestId: attempt.upstreamRequestId,
    cost: attempt.upstreamCost,
    badge: { tone: succeeded ? 'ok' : 'bad', label: succeeded ? 'Completed' : marginSentence(outcome) },
    reason,
    firstTokenMs: attempt.firstTokenMs,
    durationMs,
  };
}

function marginSentence(outcome: string): string {
  const words = outcome.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
