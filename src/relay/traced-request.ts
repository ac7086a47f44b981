import type { Ticket } from './billing/index.js';
import type { UpstreamAdapter, UpstreamRequest } from '../protocols/contract/index.js';
import type { Channel } from '../catalog/channels/index.js';

const HEADERS = ['traceparent', 'tracestate'];

/** The request with what continues the call's trace. A channel that sets such headers itself has the word. */
export function traced(
  request: UpstreamRequest,
  { call, attempts }: Ticket,
  channel: Channel,
  { provider }: UpstreamAdapter,
): UpstreamRequest {
  if (call.trace === undefined) return request;
  const headers = call.trace.attempt(attempts.length, { baseUrl: channel.baseUrl, provider });
  const isSet = HEADERS.some((name) => name in channel.headers);
  return isSet ? request : { ...request, headers: { ...request.headers, ...headers } };
}
