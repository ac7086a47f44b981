import { resolve } from 'node:path';
import { InteractionsUpstream } from '../../../../src/protocols/interactions/upstream.js';
import { describeUpstreamHalf } from '../../index.js';
import { interactionsVendor } from './vendor.js';

const fixtures = resolve(import.meta.dirname, 'fixtures');

describeUpstreamHalf({
  upstream: new InteractionsUpstream(),
  vendor: interactionsVendor,
  fixtures: resolve(fixtures, 'upstream'),
});
