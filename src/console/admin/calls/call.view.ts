import { type CallAttempt, type CallBackground, type CallDetails } from '../../../usage/index.js';
import { callPage } from '../../usage/index.js';
import { marginOf, marginText } from '../margin.js';

const PATH = '/admin/calls';

/** Call details for administrators: adds the user, the attempts and their costs. */
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
