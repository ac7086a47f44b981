/** Requirements for every request. */

import fc from 'fast-check';
import { AppError } from '../../../src/platform/shared/index.js';
import type { CallContent } from '../../../src/protocols/contract/index.js';
import { anyConversation } from '../../support/arbitrary-conversations.js';
import { neutralRequestOf } from '../../support/neutral-request.js';
import type { Abilities, Check } from '../abilities.js';
import { deepFreeze } from '../deep-freeze.js';
import type { UpstreamAbility } from './ability.js';
import type { UpstreamHalf } from './half.js';
import { buildUpstreamRequest, type SentRequest, sentRequestOf } from './upstream-request.js';

type RobustnessAbility = Extract<
  UpstreamAbility,
  'any conversation' | 'no side effects' | 'smallest request' | 'limit of the smallest request'
>;

const RUNS = { numRuns: 100 };
const MOST_PROBED_TOKENS = 100;

export const robustnessAbilities = (half: UpstreamHalf): Abilities<RobustnessAbility> => ({
  'any conversation': {
    checks: [
      {
        name: "builds valid requests from any client's request (cases 63, 64, 68, 69 and 72)",
        run() {
          fc.assert(
            fc.property(anyConversation, (content) => {
              const sent = sentOrRefused(half, content);
              if (sent !== undefined) half.vendor.expectRequest(sent.json);
            }),
            RUNS,
          );
        },
      },
    ],
  },
  'no side effects': {
    checks: [
      {
        name: 'builds the same request twice without modifying its input',
        run() {
          fc.assert(
            fc.property(anyConversation, (content) => {
              const frozen = deepFreeze(content);
              const once = sentOrRefused(half, frozen);
              expect(sentOrRefused(half, frozen)?.body.toString()).toBe(once?.body.toString());
            }),
            RUNS,
          );
        },
      },
    ],
  },
  'smallest request': { checks: [smallest(half)] },
  'limit of the smallest request': { checks: [smallestLimit(half)] },
});

const smallest = ({ upstream, vendor }: UpstreamHalf): Check => ({
  name: 'builds a valid, unstreamed probe request for its model',
  run() {
    const sent = sentRequestOf(upstream.probeRequest('vendor-model'));
    expect([vendor.isCall(sent), vendor.wantsStream(sent), vendor.modelOf(sent)]).toEqual([
      true,
      false,
      'vendor-model',
    ]);
    vendor.expectRequest(sent.json);
    expect(neutralRequestOf(vendor, sent.json).turns).toEqual([{ by: 'user', text: expect.any(String) }]);
  },
});

/** Probes must be cheap. */
const smallestLimit = ({ upstream, vendor }: UpstreamHalf): Check => ({
  name: 'limits a probe request to a few tokens',
  run() {
    const { outputLimit } = neutralRequestOf(vendor, sentRequestOf(upstream.probeRequest('vendor-model')).json);
    expect(outputLimit).toBeLessThanOrEqual(MOST_PROBED_TOKENS);
  },
});

/** The request; undefined if it was rejected naming the member. */
function sentOrRefused(half: UpstreamHalf, content: CallContent): SentRequest | undefined {
  try {
    return buildUpstreamRequest(half, content);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect([error.kind, error.details.param]).toEqual(['invalid_request', expect.any(String)]);
    return undefined;
  }
}
