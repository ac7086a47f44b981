import { describeClientHalf, describeUpstreamHalf } from '../index.js';
import { telegraphClient } from './client.js';
import { TelegraphProtocol } from './telegraph.protocol.js';
import { TelegraphUpstream } from './telegraph.upstream.js';
import { telegraphVendor } from './vendor.js';

describeClientHalf({ protocol: new TelegraphProtocol(), client: telegraphClient });

describeUpstreamHalf({ upstream: new TelegraphUpstream(), vendor: telegraphVendor });
