import { Injectable } from '@nestjs/common';
import { type Channel, ChannelDirectory, type ChannelRecord } from '../../../catalog/channels/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { ChannelHealth, type Cooldown } from '../../../relay/routing/index.js';
import type { Form } from '../../web/index.js';
import { COST_COLUMNS, costId } from './channel-costs.js';
import type { ChannelForm } from './channel-form.js';
import { servedIn } from './form-rows.js';

const MINUTE_MS = 60_000;

type StateName = 'healthy' | 'limited' | 'resting' | 'failing' | 'out' | 'starting' | 'off';

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
  starting: 'Starting',
  off: 'Disabled',
};

/** This process has not loaded the channel since it was saved. */
const STARTING = 'Receives calls within a second.';

/** @param channel as loaded by this process; undefined until then */
export function stateOf(
  { enabled }: Pick<ChannelRecord, 'enabled'>,
  channel: Channel | undefined,
  health: Pick<ChannelHealth, 'cooldownOf' | 'credentialCooldownOf'>,
  nowMs: number,
): ChannelState {
  if (!enabled) return { name: 'off', label: STATE_LABELS.off };
  if (channel === undefined) return { name: 'starting', label: STATE_LABELS.starting, why: STARTING };
  if (channel.unavailableReason !== undefined)
    return { name: 'out', tone: 'bad', label: STATE_LABELS.out, why: sentence(channel.unavailableReason) };
  const rest = health.cooldownOf(channel);
  if (rest !== undefined) return resting(rest, nowMs);
  return ofCredentials(channel, health, nowMs);
}

/** More than one strike means that a retry after the cooldown failed. */
function resting({ strikes, untilMs }: Cooldown, nowMs: number): ChannelState {
  const left = leftUntil(untilMs, nowMs);
  if (strikes > 1)
    return { name: 'failing', tone: 'bad', label: STATE_LABELS.failing, why: `Next retry ${left.again}.` };
  return {
    name: 'resting',
    tone: 'bad',
    label: `Cooldown ${left.short}`.trim(),
    why: 'Most of the recent requests failed.',
  };
}

function ofCredentials(
  channel: Channel,
  health: Pick<ChannelHealth, 'credentialCooldownOf'>,
  nowMs: number,
): ChannelState {
  const all = channel.credentials.length === 0 ? [undefined] : channel.credentials;
  const rests = all.flatMap((credential) => health.credentialCooldownOf(channel, credential) ?? []);
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
  const retry = all.length === 1 ? `It will be tried again ${left.again}.` : `Next retry ${left.again}.`;
  const out = rests.length === all.length;
  return {
    name: out ? 'out' : 'limited',
    tone: out ? 'bad' : 'warn',
    label: out ? STATE_LABELS.out : 'Credential unavailable',
    why: `${first.reason === 'no_money' ? outOfCredit(rests.length, all.length) : rejected(rests.length, all.length)} ${retry}`,
  };
}

const outOfCredit = (some: number, all: number): string =>
  all === 1 ? 'The credential is out of credit.' : `Out of credit: ${some} of ${all} credentials.`;

const rejected = (some: number, all: number): string =>
  `The upstream rejected ${all === 1 ? 'the credential' : `${some} of ${all} credentials`}.`;

function leftUntil(untilMs: number, nowMs: number): { short: string; again: string } {
  const leftMs = untilMs - nowMs;
  if (leftMs <= 0) return { short: '', again: 'on the next call' };
  const short = leftMs < MINUTE_MS ? `${Math.ceil(leftMs / 1000)} s` : `${Math.ceil(leftMs / MINUTE_MS)} min`;
  return { short, again: `in ${short}` };
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** Channel states, as known to this process. */
@Injectable()
export class ChannelStates {
  constructor(
    private readonly directory: ChannelDirectory,
    private readonly health: ChannelHealth,
    private readonly clock: Clock,
  ) {}

  of(channel: Pick<ChannelRecord, 'id' | 'enabled'>): ChannelState {
    const called = this.directory.all().find(({ id }) => id === channel.id);
    return stateOf(channel, called, this.health, this.clock.now());
  }
}

/** Labels of the channel form's fields, by name. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  protocol: 'Protocol',
  baseUrl: 'Base URL',
  auth: 'Authentication',
  authHeader: 'Header name',
  query: 'Query parameters',
  headers: 'Request headers',
  public: 'Public names',
  upstream: 'Upstream names',
  groups: 'Groups',
  tier: 'Tier',
  weight: 'Weight',
  maxConcurrency: 'Concurrent calls',
  connectMs: 'Connect timeout',
  firstEventMs: 'First-token timeout',
  idleMs: 'Idle timeout',
  totalMs: 'Total timeout',
};

/** Fields that are not compared when changes conflict. */
const OTHER_LABELS: Readonly<Record<string, string>> = {
  secret: 'Credentials',
  flags: 'Flags',
  costs: 'Upstream costs',
  password: 'Your password',
};

/** Labels of the fields with errors. */
export function refusedLabels(form: Form<ChannelForm>): string {
  const costs = servedIn(form.values).flatMap((model, index) =>
    COST_COLUMNS.map(({ name, label }): [string, string] => [costId(index + 1, name), `${label} of ${model}`]),
  );
  const labels = new Map([...Object.entries({ ...FIELD_LABELS, ...OTHER_LABELS }), ...costs]);
  return [...new Set(Object.keys(form.errors).map((field) => labels.get(field) ?? 'Channel'))].join(', ');
}
