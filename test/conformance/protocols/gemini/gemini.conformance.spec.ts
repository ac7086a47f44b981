import { resolve } from 'node:path';
import { GeminiUpstream } from '../../../../src/protocols/gemini/upstream.js';
import { describeUpstreamHalf } from '../../index.js';
import { geminiVendor } from './vendor.js';

describeUpstreamHalf({
  upstream: new GeminiUpstream(),
  vendor: geminiVendor,
  fixtures: resolve(import.meta.dirname, 'fixtures/upstream'),
});
