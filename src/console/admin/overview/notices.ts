import type { Notice } from '../../web/index.js';
import { count, percent } from '../../../platform/format/index.js';

/** What a channel did within the last hour. */
export interface ChannelTrouble {
  readonly channel: string;
  readonly attempts: number;
  /** Those that failed for a reason of the upstream. */
  readonly failed: number;
  /** What most of them were answered with; null: nothing. */
  readonly status: number | null;
}

/** A channel whose reports of usage could not be true within the last day. */
export interface ChannelCorrections {
  readonly channel: string;
  readonly calls: number;
}

/** A channel that is not asked, or not as often as it might be. */
export interface ChannelRest {
  readonly id: string;
  readonly name: string;
  readonly tone: 'warn' | 'bad';
  /** The words of its badge: `Resting 4 min`. */
  readonly label: string;
  readonly why: string;
}

/** What may have to be told on top of the overview. */
export interface Conditions {
  readonly rests: readonly ChannelRest[];
  readonly troubles: readonly ChannelTrouble[];
  /** Whether a channel is stored and switched on. */
  readonly hasChannel: boolean;
  /** Models that could be called, were there anybody to ask. */
  readonly unserved: readonly string[];
  /** Where processes count together but cannot now: `Redis`. */
  readonly countsAway: readonly string[];
  /** Whether this process hears what others change. */
  readonly hearsOthers: boolean;
  /** Mails given up in a row. */
  readonly lostMails: number;
  /** Calls whose settlement the database has refused. */
  readonly unsettled: number;
  /** What the payment provider told that could not be entered. */
  readonly paymentProblems: number;
  readonly corrections: readonly ChannelCorrections[];
}

/** Fewer attempts say little of a channel, and so does a smaller share of failures. */
const LEAST_ATTEMPTS = 20;
const LEAST_SHARE = 0.05;
/** A single mail may have had a wrong address. */
const LEAST_MAILS = 2;
const MOST = 6;
const MOST_NAMES = 3;

/** What is wrong now, the worst in front, each with where it can be looked at. */
export function notices(conditions: Conditions): readonly Notice[] {
  const all = [
    ...ofMoney(conditions),
    ...conditions.rests.map(resting),
    ...ofModels(conditions),
    ...conditions.corrections.map(corrected),
    ...conditions.troubles.flatMap((trouble) => failing(trouble, conditions.rests)),
    ...ofProcess(conditions),
  ];
  const isBad = ({ tone }: Notice): boolean => tone === 'bad';
  return [...all.filter(isBad), ...all.filter((one) => !isBad(one))].slice(0, MOST);
}

function ofMoney({ unsettled, paymentProblems }: Conditions): Notice[] {
  return [
    ...(unsettled === 0 ? [] : [notSettled(unsettled)]),
    ...(paymentProblems === 0 ? [] : [notEntered(paymentProblems)]),
  ];
}

const notEntered = (paymentProblems: number): Notice => ({
  tone: 'bad',
  title: `${count(paymentProblems)} payment${paymentProblems === 1 ? '' : 's'} could not be entered`,
  text: 'No money was moved: what Stripe told does not match its order, or the account is gone. Each says why.',
  action: { href: '/admin/payments', label: 'Open payment problems' },
});

const notSettled = (unsettled: number): Notice => ({
  tone: 'bad',
  title: `${count(unsettled)} call${unsettled === 1 ? '' : 's'} could not be settled`,
  text: 'The database refused to, so nothing was charged. “switchboard ledger check” names them.',
});

const corrected = ({ channel, calls }: ChannelCorrections): Notice => ({
  tone: 'warn',
  title: `${channel} reported implausible usage for ${count(calls)} call${calls === 1 ? '' : 's'}`,
  text: 'Within the last 24 hours. These calls were charged by what was counted here; the upstream may bill you more. Check its reports, and the context window and output limit of the model.',
  action: {
    href: `/admin/calls?range=24h&channel=${encodeURIComponent(channel)}&result=corrected`,
    label: 'Show calls',
  },
});

const resting = ({ id, name, tone, label, why }: ChannelRest): Notice => ({
  tone,
  title: `${name}: ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
  text: `${why} Calls move to other channels of their model, where there are any.`,
  action: { href: `/admin/channels/${id}`, label: 'Open channel' },
});

function failing({ channel, attempts, failed, status }: ChannelTrouble, rests: readonly ChannelRest[]): Notice[] {
  if (attempts < LEAST_ATTEMPTS || failed < attempts * LEAST_SHARE) return [];
  // What has consequences already is told as these.
  if (rests.some(({ name }) => name === channel)) return [];
  const what = status === null ? 'is not answering' : status === 429 ? 'is refusing' : 'is failing';
  return [
    {
      tone: 'warn',
      title: `${channel} ${what} ${percent(failed, attempts)} of calls${status === null ? '' : ` (${status})`}`,
      text: `${count(failed)} of ${count(attempts)} attempts within the last hour. Calls move to other channels of their model, where there are any.`,
      action: {
        href: `/admin/calls?range=1h&channel=${encodeURIComponent(channel)}&upstream=${status ?? 'none'}`,
        label: 'Show calls',
      },
    },
  ];
}

function ofModels({ hasChannel, unserved }: Conditions): Notice[] {
  if (!hasChannel) return [withoutChannel(unserved.length > 0)];
  if (unserved.length === 0) return [];
  const named = unserved.slice(0, MOST_NAMES).map((name) => `“${name}”`);
  const more = unserved.length - named.length;
  return [
    {
      tone: 'bad',
      title: `Nobody serves ${named.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`,
      text: 'No channel that could be asked has it for any of its groups: calls of it are refused.',
      action: { href: '/admin/models', label: 'Open models' },
    },
  ];
}

/** What a new service begins with, and what one is left with whose channels are all switched off. */
const withoutChannel = (hasModels: boolean): Notice => ({
  tone: hasModels ? 'bad' : 'warn',
  title: 'No channel is switched on',
  text: 'Until one is, nothing answers but the demo model, where that is on. A channel answers for models that have prices: add these first.',
  action: hasModels
    ? { href: '/admin/channels', label: 'Open channels' }
    : { href: '/admin/models', label: 'Open models' },
});

function ofProcess({ countsAway, hearsOthers, lostMails }: Conditions): Notice[] {
  return [
    ...countsAway.map((name): Notice => ({
      tone: 'warn',
      title: `Rate limits are not counted by ${name}`,
      text: 'It cannot be reached. Until it is back each process counts for itself, and more calls may pass than limits allow.',
    })),
    ...(hearsOthers
      ? []
      : [
          {
            tone: 'warn',
            title: 'The database does not tell of changes',
            text: 'The connection that does is lost. Until it is back this process looks for changes every second.',
          } as const,
        ]),
    ...(lostMails < LEAST_MAILS
      ? []
      : [
          {
            tone: 'warn',
            title: 'Mail is not being sent',
            text: `The last ${count(lostMails)} mails were given up. Codes to register and to reset passwords are mailed.`,
            action: { href: '/admin/settings', label: 'Open settings' },
          } as const,
        ]),
  ];
}
