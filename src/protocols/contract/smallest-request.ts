import type { JsonObject } from '../../platform/shared/index.js';
import { SplicedBody } from './json-splice.js';
import type { UpstreamRequest } from './upstream-request.js';

/** A request of our own making, for a probe: JSON to a path behind the channel's base address. */
export const smallestRequest = (
  path: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): UpstreamRequest => ({
  path,
  query: '',
  headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  body: new SplicedBody({ bytes: Buffer.from(JSON.stringify(body)) }),
});
