import { type Channel, type ChannelRecord } from '../../../catalog/channels/index.js';
import { type ChannelHealth, type Cooldown } from '../../../relay/routing/index.js';

const MINUTE_MS = 60_000;

export type StateName = 'healthy' | 'limited' | 'resting' | 'failing' | 'out' | 'off';

/** State of a channel, as shown by its badge. */
export interface ChannelState {
  readonly name: StateName;
  readonly tone?: 'ok' | 'warn' | 'bad';
  readonly label: string;
  /** Details, as a sentence. */
  readonly why?: string;
}

/** Labels of badges and filters. */
export const STATE_LABELS: Readonly<Record<StateName, string>> = {
  healthy: 'Healthy',
  limited: 'Rate limited',
  resting: 'Cooldown',
  failing: 'Failing',
  out: 'Unavailable',
  off: 'Disabled',
};

/** @param channel as loaded by this process; undefined until then */
export function stateOf(
  { enabled }: Pick<ChannelRecord, 'enabled'>,
  channel: Channel | undefined,
  health: Pick<ChannelHealth, 'restOf' | 'restOfCredential'>,
  nowMs: number,
): ChannelState {
  if (!enabled) return { name: 'off', label: STATE_LABELS.off };
  if (channel === undefined) return { name: 'out', label: STATE_LABELS.out, why: 'Not loaded yet.' };
  if (channel.unavailableReason !== undefined)
    return { name: 'out', tone: 'bad', label: STATE_LABELS.out, why: sentence(channel.unavailableReason) };
  const rest = health.restOf(channel);
  if (rest !== undefined) return resting(rest, nowMs);
  return ofCredentials(channel, health, nowMs);
}

/** More than one strike means that a retry after the cooldown failed. */
function resting({ strikes, untilMs }: Cooldown, nowMs: number): ChannelState {
  const left = leftUntil(untilMs, nowMs);
  if (strikes > 1)
    return { name: 'failing', tone: 'bad', label: STATE_LABELS.failing, why: `Next retry ${left.again}.` };
  return { name: 'resting', tone: 'bad', label: `Cooldown ${left.short}`.trim(), why: 'Most recent requests failed.' };
}

function ofCredentials(channel: Channel, health: Pick<ChannelHealth, 'restOfCredential'>, nowMs: number): ChannelState {
  const all = channel.credentials.length === 0 ? [undefined] : channel.credentials;
  const rests = all.flatMap((credential) => health.restOfCredential(channel, credential) ?? []);
  const [first] = rests.toSorted((one, other) => one.untilMs - other.untilMs);
  if (first === undefined) return { name: 'healthy', tone: 'ok', label: STATE_LABELS.healthy };
  const which = all.length === 1 ? 'Credential' : `${rests.length} of ${all.length} credentials`;
  const left = leftUntil(first.untilMs, nowMs);
  if (rests.some(({ reason }) => reason === 'rate_limit'))
    return {
      name: 'limited',
      tone: 'warn',
      label: STATE_LABELS.limited,
      why: `${which}: available again ${left.again}.`,
    };
  const fault = first.reason === 'no_money' ? 'out of credit' : 'rejected by the upstream';
  const out = rests.length === all.length;
  return {
    name: out ? 'out' : 'limited',
    tone: out ? 'bad' : 'warn',
    label: out ? STATE_LABELS.out : 'Credential unavailable',
    why: `${which}: ${fault}. Next retry ${left.again}.`,
  };
}

function leftUntil(untilMs: number, nowMs: number): { short: string; again: string } {
  const leftMs = untilMs - nowMs;
  if (leftMs <= 0) return { short: '', again: 'with the next call' };
  const short = leftMs < MINUTE_MS ? `${Math.ceil(leftMs / 1000)} s` : `${Math.ceil(leftMs / MINUTE_MS)} min`;
  return { short, again: `in ${short}` };
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
