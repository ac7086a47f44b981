import { headerOf, type RequestLine } from '../../call/index.js';

/** The version that the client speaks; the vendor's own name of the header wins over the neutral one. */
export const versionHeaderOf = (request: RequestLine): string | undefined =>
  headerOf(request, 'anthropic-version') ?? headerOf(request, 'vendor-version');
