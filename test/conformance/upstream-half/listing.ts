/** Lists of a vendor's models. */

import type { ModelListing } from '../../../src/protocols/contract/index.js';
import type { Abilities, Check } from '../abilities.js';
import type { VendorListing } from '../vendor-double.js';
import type { UpstreamAbility } from './ability.js';
import type { UpstreamHalf } from './half.js';

type Listing = Extract<UpstreamAbility, 'list of models'>;

const NAMES = ['vendor-model', 'vendor-model-2026-11', 'family/vendor-small'];
/** Responses of servers without such a list, or with an empty one. */
const NO_LISTS = [{}, { error: null }, [], 'no such page', null, { data: 'none', models: 7 }, { data: [null, 7, {}] }];

export const listing = (half: UpstreamHalf): Abilities<Listing> => ({
  'list of models': {
    checks: [requested(half), read(half), nothing(half)],
    otherwise: {
      name: 'has no list of models',
      run: () => expect(half.upstream.modelListing).toBeUndefined(),
    },
  },
});

const requested = (half: UpstreamHalf): Check => ({
  name: "requests the vendor's list without a body",
  run() {
    const [{ request }, vendor] = bothOf(half);
    expect([request.method, Buffer.concat(request.body.pieces()).toString()]).toEqual(['GET', '']);
    vendor.expectRequest({
      path: request.path,
      query: new URLSearchParams(request.query),
      headers: request.headers,
    });
  },
});

const read = (half: UpstreamHalf): Check => ({
  name: 'returns callable models by the names used in calls',
  run() {
    const [own, vendor] = bothOf(half);
    expect(own.read(vendor.body(NAMES)).map(({ name }) => name)).toEqual(NAMES);
    expect(own.read(vendor.body([]))).toEqual([]);
  },
});

const nothing = (half: UpstreamHalf): Check => ({
  name: 'returns nothing from a response without models',
  run() {
    const [own] = bothOf(half);
    for (const response of NO_LISTS) expect([response, own.read(response)]).toEqual([response, []]);
  },
});

function bothOf({ upstream, vendor }: UpstreamHalf): [ModelListing, VendorListing] {
  if (upstream.modelListing === undefined) throw new Error('not written yet: modelListing');
  if (vendor.listing === undefined) throw new Error('not written yet: the vendor’s listing');
  return [upstream.modelListing, vendor.listing];
}
