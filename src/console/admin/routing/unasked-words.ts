import type { Excluded, Exclusion, Hindered } from '../../../relay/routing/index.js';
import { clockTime } from '../../../platform/format/index.js';

type Rest = Hindered['rests'][number];

const REASONS: Readonly<Record<Rest['reason'], string>> = {
  failures: 'its calls failed',
  rate_limit: 'the upstream’s rate limit was reached',
  refused: 'the upstream refused the credential',
  no_money: 'the account there has no money left',
};

/** A channel that takes such calls and cannot be asked now. */
export function hinderedRow({ channel, isFull, rests }: Hindered, nowMs: number, timeZone: string) {
  const full = `It answers as many calls as it may at the same time${channel.maxConcurrency === undefined ? '' : `, ${channel.maxConcurrency}`}.`;
  return {
    ...unasked(channel),
    badge: { tone: 'warn', label: isFull ? 'Too busy' : 'Resting' },
    words: isFull ? full : [...new Set(rests.map((rest) => restWords(rest, nowMs, timeZone)))].join(' '),
  };
}

function restWords({ reason, untilMs }: Rest, nowMs: number, timeZone: string): string {
  const why = REASONS[reason];
  if (untilMs <= nowMs) return `It rested because ${why}; another call tries at this moment whether it answers again.`;
  return `It rests until ${clockTime(new Date(untilMs), timeZone)}, because ${why}.`;
}

/** A channel that serves the model, but not such a call. */
export const excludedRow = ({ channel, exclusion }: Excluded) => ({
  ...unasked(channel),
  badge: { tone: exclusion.why === 'unavailable' ? 'bad' : '', label: LABELS[exclusion.why] },
  words: exclusionWords(exclusion),
});

const LABELS: Readonly<Record<Exclusion['why'], string>> = {
  'switched-off': 'Switched off',
  unavailable: 'Out',
  'other-groups': 'Other groups',
  'native-only': 'Other dialect',
};

function exclusionWords(exclusion: Exclusion): string {
  switch (exclusion.why) {
    case 'switched-off':
      return 'It takes no calls until it is switched on.';
    case 'unavailable':
      return `It cannot be called: ${exclusion.reason}.`;
    case 'other-groups':
      return `It serves ${exclusion.groups.length === 0 ? 'no group' : exclusion.groups.join(', ')}.`;
    case 'native-only':
      return 'It takes calls of its own dialect alone.';
    default:
      return exclusion satisfies never;
  }
}

const unasked = ({ name, baseUrl, tier, weight }: Excluded['channel']) => ({
  place: undefined,
  name,
  baseUrl,
  tierAndWeight: `${tier} · ${weight}`,
  upstreamModel: undefined,
  share: undefined,
});
