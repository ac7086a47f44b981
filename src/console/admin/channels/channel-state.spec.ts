import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import type { Rest } from '../../../relay/routing/health/rest.js';
import { Secret } from '../../../platform/shared/index.js';
import { stateOf } from './channel-state.js';

const NOW = 1_000_000;
const aRest = (overrides: Partial<Rest>): Rest => ({
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
  readonly rest?: Rest;
  /** By the ids of credentials. */
  readonly rests?: Readonly<Record<string, Rest>>;
}

const state = ({ enabled = true, credentials = CREDENTIALS, unavailableReason, rest, rests = {} }: Case) =>
  stateOf(
    { enabled },
    { credentials, unavailableReason } as Channel,
    { restOf: () => rest, restOfCredential: (_, credential) => rests[credential?.id ?? 'none'] },
    NOW,
  );

describe('the state of a channel', () => {
  it.each<[string, Case, string, string | undefined]>([
    ['is healthy', {}, 'Healthy', undefined],
    ['is that it is switched off, whatever else', { enabled: false, rest: aRest({}) }, 'Switched off', undefined],
    ['is out when it cannot be used', { unavailableReason: 'no credential' }, 'Out', 'No credential.'],
    ['tells how long it rests, in seconds', { rest: aRest({}) }, 'Resting 30 s', 'Most of its last calls failed.'],
    ['or minutes', { rest: aRest({ untilMs: NOW + 240_000 }) }, 'Resting 4 min', 'Most of its last calls failed.'],
    [
      'fails its check where it rests again',
      { rest: aRest({ strikes: 2 }) },
      'Failing check',
      'It is tried again in 30 s.',
    ],
    [
      'is tried with the next call when its time is up',
      { rest: aRest({ strikes: 3, untilMs: NOW }) },
      'Failing check',
      'It is tried again with the next call.',
    ],
    [
      'is limited as long as a credential is',
      { rests: { b: aRest({ reason: 'rate_limit' }) } },
      'Rate limited',
      '1 of its 2 credentials can be used again in 30 s.',
    ],
    [
      'is out when no credential is taken',
      { rests: { a: aRest({ reason: 'no_money' }), b: aRest({ reason: 'no_money', untilMs: NOW + 90_000 }) } },
      'Out',
      '2 of its 2 credentials have no money left; tried again in 30 s.',
    ],
    [
      'says that its only credential was refused',
      { credentials: [CREDENTIALS[0]!], rests: { a: aRest({ reason: 'refused' }) } },
      'Out',
      'Its credential was refused; tried again in 30 s.',
    ],
  ])('%s', (_, given, label, why) => {
    const { label: shown, why: told } = state(given);
    expect([shown, told]).toEqual([label, why]);
  });

  it('is not known before this process has heard of the channel', () => {
    const health = { restOf: () => undefined, restOfCredential: () => undefined };
    expect(stateOf({ enabled: true }, undefined, health, NOW)).toEqual({
      name: 'out',
      label: 'Out',
      why: 'It is not in use yet.',
    });
  });
});
