import type { LimitStatus } from '../../../src/platform/limits/index.js';
import { aRequestLine, listedModels } from '../../support/calls.js';
import { withoutKeepAlives } from '../../support/stream-text.js';
import type { Abilities, Check } from '../abilities.js';
import { HELLO, SAID } from '../examples.js';
import type { ClientAbility } from './ability.js';
import type { ClientHalf } from './half.js';
import { responseSaying, bodyOf, DELIVERIES, lineOf } from './client-calls.js';

const NOW = Date.parse('2026-11-22T10:00:00Z');
const standing = (limit: number, remaining: number): LimitStatus => ({
  limit,
  remaining,
  resetMs: 90_000,
  resetsAt: NOW + 90_000,
});

type MetadataAbility = Extract<ClientAbility, 'limits in headers' | 'lists of models' | 'keep-alive'>;

/** What clients get besides responses. */
export const metadataAbilities = (half: ClientHalf): Abilities<MetadataAbility> => ({
  'limits in headers': { checks: limits(half) },
  'lists of models': { checks: models(half) },
  'keep-alive': { checks: [keepAlive(half)] },
});

/** Remaining limits are in headers, as clients read them. */
const limits = ({ protocol }: ClientHalf): Check[] => [
  {
    name: 'renders no headers without limits',
    run() {
      expect(protocol.renderLimits({})).toEqual({});
    },
  },
  ...(['requests', 'tokens'] as const).map((what): Check => ({
    name: `renders the limit, remainder and reset of ${what}`,
    run() {
      const headers = protocol.renderLimits({ [what]: standing(4321, 1234) });
      expect(Object.keys(headers)).toHaveLength(3);
      expect(Object.values(headers)).toEqual(expect.arrayContaining(['4321', '1234']));
      for (const [name, value] of Object.entries(headers)) {
        expect(name).toMatch(/^[a-z-]*ratelimit-[a-z-]+$/);
        expect(name).toContain(what);
        expect(value).toMatch(/^(?:\d+|1m30s|2026-11-22T10:01:30Z)$/);
      }
    },
  })),
  {
    name: 'renders both limits',
    run() {
      const headers = protocol.renderLimits({ requests: standing(60, 59), tokens: standing(1000, 0) });
      expect(Object.keys(headers)).toHaveLength(6);
    },
  },
];

const models = ({ protocol }: ClientHalf): Check[] => [
  {
    name: 'lists all models by name',
    run() {
      const list = JSON.stringify(protocol.renderModels(listedModels(3), aRequestLine()));
      for (const { id } of listedModels(3)) expect(list).toContain(JSON.stringify(id));
    },
  },
  {
    name: 'renders a single model',
    run() {
      const [model] = listedModels(1);
      expect(JSON.stringify(protocol.renderModel(model!))).toContain('"m/0"');
    },
  },
];

/** Before the response, and between its events. */
const keepAlive = (half: ClientHalf): Check => ({
  name: 'keeps a stream alive without affecting the response',
  run() {
    const { write, hear } = DELIVERIES.streamed;
    const stream = write(half, responseSaying({ text: 'Hello there' }), bodyOf(half, HELLO, true));
    const alive = (begun: boolean): string => Buffer.from(half.protocol.keepAlive(begun, lineOf(half))).toString();
    for (const begun of [false, true]) {
      expect(alive(begun)).toMatch(/^[^\n].*\n\n$/s);
      expect([begun, withoutKeepAlives(alive(begun), half.client.keepAlive)]).toEqual([begun, '']);
    }
    const kept = alive(false) + stream.replaceAll('\n\n', `\n\n${alive(true)}`);
    expect(hear(half, kept)).toEqual({ ...SAID, text: 'Hello there' });
  },
});
