import { headerOf, type RequestLine } from '../contract/index.js';

/** The vendor's own name of the header, and the neutral one. */
export const VERSION_HEADERS = ['anthropic-version', 'vendor-version'] as const;

/** The version that the client speaks; the vendor's own name wins. */
export const versionHeaderOf = (request: RequestLine): string | undefined =>
  headerOf(request, VERSION_HEADERS[0]) ?? headerOf(request, VERSION_HEADERS[1]);

/** From this version on `temperature`, `top_p` and `top_k` are refused, whatever they say. */
export const WITHOUT_SAMPLING = '2026-10-21';

/** Whether requests may say how to sample. @param version a date; undefined is the first one */
export const knowsSampling = (version: string | undefined): boolean =>
  version === undefined || version < WITHOUT_SAMPLING;

/** What upstreams are spoken to in when the client names none. */
export const DEFAULT_VERSION = '2023-06-01';
