import { type Call, upstreamHeaders, type UpstreamRequest } from '../contract/index.js';
import { DEFAULT_VERSION, versionHeaderOf } from './flags.js';
import { FORWARDED_HEADERS } from './head.js';

/** Client headers and query sent with a verbatim request: version and betas. */
export const requestContext = (call: Call): Pick<UpstreamRequest, 'query' | 'headers'> => ({
  query: new URLSearchParams(call.request.query).get('beta') === 'true' ? 'beta=true' : '',
  headers: {
    ...upstreamHeaders(call, ...FORWARDED_HEADERS),
    'anthropic-version': versionHeaderOf(call.request) ?? DEFAULT_VERSION,
  },
});
