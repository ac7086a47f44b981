import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import { Secret } from '../../../platform/shared/index.js';
import type { Cooldown } from '../../../relay/routing/health/cooldown.js';
import { stateOf } from './channel-state.js';

const NOW = 1_000_000;
const aCooldown = (overrides: Partial<Cooldown>): Cooldown => ({
  subject: 'chn_1',
  id: 'rst_1',
  reason: 'failures',
  untilMs: NOW + 30_000,
  strikes: 1,
  probeUntilMs: 0,
  ...overrides,
});
const aCredential = (id: string): ChannelCredential => ({ id, secret: new Secret(`secret-of-${id}`) });
const CREDENTIALS = [aCredential('a'), aCredential('b')];

interface Case {
  readonly enabled?: boolean;
  readonly credentials?: readonly ChannelCredential[];
  readonly unavailableReason?: string;
  readonly rest?: Cooldown;
  /** By credential id. */
  readonly rests?: Readonly<Record<string, Cooldown>>;
}

const state = ({ enabled = true, credentials = CREDENTIALS, unavailableReason, rest, rests = {} }: Case) =>
  stateOf(
    { enabled },
    { credentials, unavailableReason } as Channel,
    { cooldownOf: () => rest, credentialCooldownOf: (_, credential) => rests[credential?.id ?? 'none'] },
    NOW,
  );

describe('stateOf', () => {
  it.each<[string, Case, string, string | undefined]>([
    ['is healthy by default', {}, 'Healthy', undefined],
    ['is disabled, whatever else applies', { enabled: false, rest: aCooldown({}) }, 'Disabled', undefined],
    ['is unavailable when it cannot be used', { unavailableReason: 'no credential' }, 'Unavailable', 'No credential.'],
    ['shows the cooldown in seconds', { rest: aCooldown({}) }, 'Cooldown 30 s', 'Most of the recent requests failed.'],
    [
      'shows the cooldown in minutes',
      { rest: aCooldown({ untilMs: NOW + 240_000 }) },
      'Cooldown 4 min',
      'Most of the recent requests failed.',
    ],
    ['is failing after a repeated cooldown', { rest: aCooldown({ strikes: 2 }) }, 'Failing', 'Next retry in 30 s.'],
    [
      'is retried on the next call when the cooldown is over',
      { rest: aCooldown({ strikes: 3, untilMs: NOW }) },
      'Failing',
      'Next retry on the next call.',
    ],
    [
      'is rate limited while a credential is',
      { rests: { b: aCooldown({ reason: 'rate_limit' }) } },
      'Rate limited',
      '1 of 2 credentials: available again in 30 s.',
    ],
    [
      'is unavailable when no credential works',
      { rests: { a: aCooldown({ reason: 'no_money' }), b: aCooldown({ reason: 'no_money', untilMs: NOW + 90_000 }) } },
      'Unavailable',
      'Out of credit: 2 of 2 credentials. Next retry in 30 s.',
    ],
    [
      'reports a single rejected credential',
      { credentials: [CREDENTIALS[0]!], rests: { a: aCooldown({ reason: 'refused' }) } },
      'Unavailable',
      'The upstream rejected the credential. It will be tried again in 30 s.',
    ],
  ])('%s', (_, given, label, why) => {
    const { label: shown, why: reported } = state(given);
    expect([shown, reported]).toEqual([label, why]);
  });

  it('is starting when this process has not loaded the channel yet', () => {
    const health = { cooldownOf: () => undefined, credentialCooldownOf: () => undefined };
    expect(stateOf({ enabled: true }, undefined, health, NOW)).toEqual({
      name: 'starting',
      label: 'Starting',
      why: 'Receives calls within a second.',
    });
  });
});
