import { headerOf, type RequestLine } from '../../call/index.js';

/** The vendor's own name of the header, and the neutral one. */
export const VERSION_HEADERS = ['anthropic-version', 'vendor-version'] as const;

/** The version that the client speaks; the vendor's own name wins. */
export const versionHeaderOf = (request: RequestLine): string | undefined =>
  headerOf(request, VERSION_HEADERS[0]) ?? headerOf(request, VERSION_HEADERS[1]);
