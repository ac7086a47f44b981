import { describeClientHalf, describeUpstreamHalf } from '../index.js';
import { telegraphClient } from './client.js';
import { TelegraphProtocol } from './telegraph.protocol.js';
import { TelegraphUpstream } from './telegraph.upstream.js';
import { telegraphVendor } from './vendor.js';

const LACKS = {
  'one call at a time': 'a model may call as many tools as it likes',
  images: 'a line is text',
  'images in results': 'a line is text',
  'JSON of a schema': 'nobody can hold the model to one: it is asked in words',
  'stop texts': 'there is no member for them: the relay looks for them in the answer',
  'reasoning shown': 'thoughts are counted, and not told',
  'reasoning given back': 'thoughts are counted, and not told',
};

describeClientHalf({ protocol: new TelegraphProtocol(), client: telegraphClient, lacks: LACKS });

describeUpstreamHalf({ upstream: new TelegraphUpstream(), vendor: telegraphVendor, lacks: LACKS });
