import type { Notice } from '../../web/index.js';
import { count, percent } from '../../../platform/format/index.js';

/** A channel’s attempts in the last hour. */
export interface ChannelTrouble {
  readonly channel: string;
  readonly attempts: number;
  /** Failures caused by the upstream. */
  readonly failed: number;
  /** The most frequent status of the failures; null: no response. */
  readonly status: number | null;
}

/** A channel that reported implausible usage in the last day. */
export interface ChannelCorrections {
  readonly channel: string;
  readonly calls: number;
}

/** A channel that is not, or only partly, available. */
export interface ChannelCooldown {
  readonly id: string;
  readonly name: string;
  readonly tone: 'warn' | 'bad';
  /** Badge label, such as `Cooldown 4 min`. */
  readonly label: string;
  readonly why: string;
}

/** The state that notices are derived from. */
export interface NoticeConditions {
  readonly rests: readonly ChannelCooldown[];
  readonly troubles: readonly ChannelTrouble[];
  /** Whether a stored channel is enabled. */
  readonly hasChannel: boolean;
  /** Enabled models without a channel. */
  readonly unserved: readonly string[];
  /** Shared counters that are unreachable: `Redis`. */
  readonly countsAway: readonly string[];
  /** Whether this process receives change notifications. */
  readonly hearsOthers: boolean;
  /** Consecutive emails that were not delivered. */
  readonly lostMails: number;
  /** Calls whose settlement the database rejected. */
  readonly unsettled: number;
  /** Payment provider events that could not be applied. */
  readonly paymentProblems: number;
  readonly corrections: readonly ChannelCorrections[];
}

/** Below these thresholds failures are not significant. */
const MIN_ATTEMPTS = 20;
const MIN_SHARE = 0.05;
/** A single failure may be a wrong address. */
const MIN_MAILS = 2;
const MAX = 6;
const MAX_NAMES = 3;

/** Current problems, errors first. */
export function notices(conditions: NoticeConditions): readonly Notice[] {
  const all = [
    ...ofMoney(conditions),
    ...conditions.rests.map(resting),
    ...ofModels(conditions),
    ...conditions.corrections.map(corrected),
    ...conditions.troubles.flatMap((trouble) => failing(trouble, conditions.rests)),
    ...ofProcess(conditions),
  ];
  const isBad = ({ tone }: Notice): boolean => tone === 'bad';
  return [...all.filter(isBad), ...all.filter((one) => !isBad(one))].slice(0, MAX);
}

function ofMoney({ unsettled, paymentProblems }: NoticeConditions): Notice[] {
  return [
    ...(unsettled === 0 ? [] : [notSettled(unsettled)]),
    ...(paymentProblems === 0 ? [] : [notEntered(paymentProblems)]),
  ];
}

const notEntered = (paymentProblems: number): Notice => ({
  tone: 'bad',
  title: `${count(paymentProblems)} payment${paymentProblems === 1 ? '' : 's'} could not be applied`,
  text: 'No money was moved. The Stripe event does not match its order, or the account was deleted. See each problem for details.',
  action: { href: '/admin/payments', label: 'Open payment problems' },
});

const notSettled = (unsettled: number): Notice => ({
  tone: 'bad',
  title: `${count(unsettled)} call${unsettled === 1 ? '' : 's'} could not be settled`,
  text: 'The database rejected the settlement, so nothing was charged. Run “switchboard ledger check” to list the calls.',
});

const corrected = ({ channel, calls }: ChannelCorrections): Notice => ({
  tone: 'warn',
  title: `${channel} reported implausible usage for ${count(calls)} call${calls === 1 ? '' : 's'}`,
  text: 'In the last 24 hours. These calls were charged by locally counted tokens; the upstream may bill you more. Check the upstream’s usage reports and the model’s context window and output limit.',
  action: {
    href: `/admin/calls?range=24h&channel=${encodeURIComponent(channel)}&result=corrected`,
    label: 'Show calls',
  },
});

const resting = ({ id, name, tone, label, why }: ChannelCooldown): Notice => ({
  tone,
  title: `${name}: ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
  text: `${why} Calls fail over to other channels that serve the model.`,
  action: { href: `/admin/channels/${id}`, label: 'Open channel' },
});

function failing({ channel, attempts, failed, status }: ChannelTrouble, rests: readonly ChannelCooldown[]): Notice[] {
  if (attempts < MIN_ATTEMPTS || failed < attempts * MIN_SHARE) return [];
  // Already reported with its state.
  if (rests.some(({ name }) => name === channel)) return [];
  const what = status === null ? 'is not responding to' : status === 429 ? 'is rejecting' : 'is failing';
  return [
    {
      tone: 'warn',
      title: `${channel} ${what} ${percent(failed, attempts)} of requests${status === null ? '' : ` (${status})`}`,
      text: `${count(failed)} of ${count(attempts)} attempts in the last hour. Calls fail over to other channels that serve the model.`,
      action: {
        href: `/admin/calls?range=1h&channel=${encodeURIComponent(channel)}&upstream=${status ?? 'none'}`,
        label: 'Show calls',
      },
    },
  ];
}

function ofModels({ hasChannel, unserved }: NoticeConditions): Notice[] {
  if (!hasChannel) return [withoutChannel(unserved.length > 0)];
  if (unserved.length === 0) return [];
  const named = unserved.slice(0, MAX_NAMES).map((name) => `“${name}”`);
  const more = unserved.length - named.length;
  return [
    {
      tone: 'bad',
      title: `No channel serves ${named.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`,
      text: 'Calls are rejected because no available channel serves the model in any of its groups.',
      action: { href: '/admin/models', label: 'Open models' },
    },
  ];
}

/** A new service, or one with all channels disabled. */
const withoutChannel = (hasModels: boolean): Notice => ({
  tone: hasModels ? 'bad' : 'warn',
  title: 'No channel is enabled',
  text: 'Only the demo model, if enabled, can be called. Add models with prices first, then a channel that serves them.',
  action: hasModels
    ? { href: '/admin/channels', label: 'Open channels' }
    : { href: '/admin/models', label: 'Open models' },
});

function ofProcess({ countsAway, hearsOthers, lostMails }: NoticeConditions): Notice[] {
  return [
    ...countsAway.map((name): Notice => ({
      tone: 'warn',
      title: `Rate limits are not shared through ${name}`,
      text: 'It is unreachable. Until it recovers, each process counts separately, and more calls may pass than the limits allow.',
    })),
    ...(hearsOthers
      ? []
      : [
          {
            tone: 'warn',
            title: 'Database change notifications are unavailable',
            text: 'The notification connection was lost. Until it is restored, this process polls for changes every second.',
          } as const,
        ]),
    ...(lostMails < MIN_MAILS
      ? []
      : [
          {
            tone: 'warn',
            title: 'Email is not being sent',
            text: `The last ${count(lostMails)} emails could not be delivered. Users need email to register and to reset passwords.`,
            action: { href: '/admin/settings', label: 'Open settings' },
          } as const,
        ]),
  ];
}
