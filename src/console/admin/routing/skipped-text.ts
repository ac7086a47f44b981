import type { Excluded, Exclusion, UnavailableChannel } from '../../../relay/routing/index.js';
import { clockTime } from '../../../platform/format/index.js';

type CooldownRow = UnavailableChannel['rests'][number];

const REASONS: Readonly<Record<CooldownRow['reason'], string>> = {
  failures: 'of repeated failures',
  rate_limit: 'the upstream’s rate limit was reached',
  refused: 'the upstream rejected the credential',
  no_money: 'the upstream account is out of credit',
};

/** A channel that matches the call but is temporarily unavailable. */
export function unavailableRow({ channel, isFull, rests }: UnavailableChannel, nowMs: number, timeZone: string) {
  const full = `The limit of concurrent calls${channel.maxConcurrency === undefined ? '' : ` (${channel.maxConcurrency})`} is reached.`;
  return {
    ...unasked(channel),
    badge: { tone: 'warn', label: isFull ? 'Busy' : 'Cooldown' },
    words: isFull ? full : [...new Set(rests.map((rest) => cooldownText(rest, nowMs, timeZone)))].join(' '),
  };
}

function cooldownText({ reason, untilMs }: CooldownRow, nowMs: number, timeZone: string): string {
  const why = REASONS[reason];
  if (untilMs <= nowMs) return `In cooldown because ${why}. Another request is checking whether it has recovered.`;
  return `In cooldown until ${clockTime(new Date(untilMs), timeZone)} because ${why}.`;
}

/** A channel that serves the model but does not match the call. */
export const excludedRow = ({ channel, exclusion }: Excluded) => ({
  ...unasked(channel),
  badge: { tone: exclusion.why === 'unavailable' ? 'bad' : '', label: LABELS[exclusion.why] },
  words: exclusionText(exclusion),
});

const LABELS: Readonly<Record<Exclusion['why'], string>> = {
  'switched-off': 'Disabled',
  unavailable: 'Unavailable',
  'other-groups': 'Other groups',
  'native-only': 'Other protocol',
};

function exclusionText(exclusion: Exclusion): string {
  switch (exclusion.why) {
    case 'switched-off':
      return 'The channel is disabled.';
    case 'unavailable':
      return `The channel cannot be used: ${exclusion.reason}.`;
    case 'other-groups':
      return `It serves ${exclusion.groups.length === 0 ? 'no groups' : `only ${exclusion.groups.join(', ')}`}.`;
    case 'native-only':
      return 'It accepts only calls in its own protocol.';
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
