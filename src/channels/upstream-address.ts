import type { UpstreamRequest } from '../call/index.js';
import type { Secret } from '../shared/index.js';
import type { Channel } from './channel.js';

/** Where a request goes: the channel's base address and query with the request's own behind them. */
export function addressOf(channel: Channel, request: UpstreamRequest): { origin: string; path: string } {
  const base = new URL(channel.baseUrl);
  const query = new URLSearchParams(channel.query);
  for (const [name, value] of new URLSearchParams(request.query)) query.append(name, value);
  const text = query.toString();
  return { origin: base.origin, path: `${base.pathname.replace(/\/$/, '')}${request.path}${text && `?${text}`}` };
}

/** The request's headers, the channel's own, and the credential in the place this upstream looks for it. */
export function headersFor(
  channel: Channel,
  credential: Secret | undefined,
  request: UpstreamRequest,
): Record<string, string> {
  return {
    ...request.headers,
    ...channel.headers,
    'accept-encoding': 'identity',
    'user-agent': 'switchboard',
    ...(credential !== undefined && credentialHeader(channel, credential)),
  };
}

function credentialHeader(channel: Channel, credential: Secret): Record<string, string> {
  if (channel.auth === 'bearer') return { authorization: `Bearer ${credential.reveal()}` };
  return channel.auth === 'none' ? {} : { [channel.auth]: credential.reveal() };
}
