import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { CustomFetch } from 'openid-client';
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch } from 'undici';
import { ForbiddenAddress, isForbidden, lookupAllowed } from '../../catalog/channels/index.js';
import { Config } from '../../platform/config/index.js';
import { isLoopback } from './sign-in-providers.js';

/** Metadata and key sets have a few KiB. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Statuses for which a `Response` takes no body, not even an empty one. */
const BODYLESS: readonly number[] = [204, 205, 304];

/** Requests to providers: direct or through the proxy, never to forbidden addresses, with responses of limited size. */
@Injectable()
export class ProviderHttp implements OnApplicationShutdown {
  private readonly direct: Dispatcher;
  private readonly proxied: Dispatcher | undefined;

  constructor({ httpsProxy, noProxy }: Config) {
    const options = { connect: { lookup: lookupAllowed } };
    this.direct = new Agent(options);
    this.proxied =
      httpsProxy && new EnvHttpProxyAgent({ ...options, httpsProxy: httpsProxy.reveal(), noProxy: noProxy.join(',') });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.direct.destroy(), this.proxied?.destroy()]);
  }

  /** As a `fetch` for `openid-client`, which checks for the global `Response`. Follows no redirects. */
  readonly fetch: CustomFetch = async (address, { body, headers, method, signal }) => {
    const { hostname } = new URL(address);
    // IP addresses are not looked up.
    if (isForbidden(hostname)) throw new ForbiddenAddress(hostname);
    const response = await fetch(address, {
      method,
      headers,
      redirect: 'manual',
      dispatcher: isLoopback(hostname) ? this.direct : (this.proxied ?? this.direct),
      ...(body instanceof URLSearchParams && { body: body.toString() }),
      ...(signal && { signal }),
    });
    const text = await textOf(response.body);
    const { status } = response;
    const type = response.headers.get('content-type');
    return new Response(BODYLESS.includes(status) ? null : text, {
      status,
      headers: type === null ? {} : { 'content-type': type },
    });
  };
}

/** Counts decompressed bytes. @throws Error for too large bodies, which are canceled */
async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the response has more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
