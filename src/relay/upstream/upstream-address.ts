import type { UpstreamRequest } from '../../protocols/contract/index.js';
import type { Secret } from '../../platform/shared/index.js';
import type { Channel } from '../../catalog/channels/index.js';

interface Base {
  readonly origin: string;
  /** Without a slash at its end. */
  readonly path: string;
  /** Encoded. */
  readonly query: string;
}

/** Parsed once for each channel, which is made anew when it changes. */
const bases = new WeakMap<Channel, Base>();

/** Where a request goes: the channel's base address and query with the request's own behind them. */
export function addressOf(channel: Channel, request: UpstreamRequest): { origin: string; path: string } {
  const base = bases.get(channel) ?? parse(channel);
  const own = request.query === '' ? '' : new URLSearchParams(request.query).toString();
  const query = [base.query, own].filter((part) => part !== '').join('&');
  return { origin: base.origin, path: `${base.path}${request.path}${query && `?${query}`}` };
}

function parse(channel: Channel): Base {
  const { origin, pathname } = new URL(channel.baseUrl);
  const query = new URLSearchParams(channel.query).toString();
  const base = { origin, path: pathname.replace(/\/$/, ''), query };
  bases.set(channel, base);
  return base;
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
