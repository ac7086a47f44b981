import { resolve } from 'node:path';
import { describeClientHalf, describeUpstreamHalf } from '../index.js';
import { telegraphClient } from './client.js';
import { TelegraphProtocol } from './protocol.js';
import { TelegraphUpstream } from './upstream.js';
import { telegraphVendor } from './vendor.js';

const fixtures = resolve(import.meta.dirname, 'fixtures');

describeClientHalf({
  protocol: new TelegraphProtocol(),
  client: telegraphClient,
  fixtures: resolve(fixtures, 'client'),
});

describeUpstreamHalf({
  upstream: new TelegraphUpstream(),
  vendor: telegraphVendor,
  fixtures: resolve(fixtures, 'upstream'),
});
