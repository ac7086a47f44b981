import { type CallAttempt, type CallBackground, type CallDetails } from '../../../usage/index.js';
import { callPage } from '../../usage/index.js';
import { marginOf, marginText } from '../margin.js';

const PATH = '/admin/calls';

/** A call as operators see it: its page, who made it, where it went, and what that cost. */
export function callOfAll(details: CallDetails, background: CallBackground | undefined, now: Date, timeZone: string) {
  const { call, attempts } = details;
  const cost = background?.upstreamCost ?? null;
  return {
    ...callPage(details, now, { timeZone, operator: true, path: PATH }),
    account: background && {
      name: background.account || background.accountId,
      href: `/admin/users/${background.accountId}`,
      calls: `${PATH}?user=${encodeURIComponent(background.account || background.accountId)}`,
    },
    channelHref: call.channel && `${PATH}?channel=${encodeURIComponent(call.channel)}`,
    upstreamCost: cost,
    costNote: costNote(call.cost, cost, attempts.length),
    tries: attempts.map(tried),
  };
}

function costNote(charged: bigint | null, cost: bigint | null, attempts: number): string {
  const margin = marginOf(charged, cost);
  if (margin !== undefined) return marginText(margin);
  return attempts === 0 ? 'nothing was sent upstream' : 'unknown: an attempt has no known cost';
}

/** An attempt as a row. */
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
    badge: { tone: succeeded ? 'ok' : 'bad', label: succeeded ? 'Completed' : inWords(outcome) },
    reason,
    firstTokenMs: attempt.firstTokenMs,
    durationMs,
  };
}

function inWords(outcome: string): string {
  const words = outcome.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
