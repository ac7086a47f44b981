import type { UpstreamHeaders } from '../protocols/contract/index.js';

const NAMES = ['x-request-id', 'request-id'];
/** Whatever a server writes there is only kept, and shown to operators. */
const NOT_PRINTABLE = /[^\x20-\x7e]/g;
const MAX_CHARACTERS = 200;

/** What the upstream calls the request, for whoever asks its support about it; empty when it does not say. */
export function upstreamRequestId(headers: UpstreamHeaders): string {
  for (const name of NAMES) {
    const value = headers[name];
    const text = typeof value === 'string' ? value : value?.[0];
    if (text !== undefined && text !== '') return text.replace(NOT_PRINTABLE, '').slice(0, MAX_CHARACTERS);
  }
  return '';
}
