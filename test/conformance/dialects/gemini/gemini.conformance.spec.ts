import { GeminiUpstream } from '../../../../src/protocols/gemini/gemini.upstream.js';
import { describeUpstreamHalf } from '../../index.js';
import { geminiVendor } from './vendor.js';

describeUpstreamHalf({ upstream: new GeminiUpstream(), vendor: geminiVendor });
