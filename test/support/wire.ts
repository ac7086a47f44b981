/** Requests as `fetch` would never send them: headers twice, half a body, whole addresses. */

import { request as httpRequest } from 'node:http';

export interface WireRequest {
  readonly method?: string;
  /** In place of the address's own, as it is. */
  readonly path?: string;
  /** Names and values in turn, sent as they are. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  /** Announces so many bytes and sends none. */
  readonly announced?: number;
  /** Sends the body in pieces, without saying how long it is. */
  readonly chunked?: boolean;
}

/** Sends it on a connection of its own, and gives the response when it is complete. */
export function sendRaw(url: string, { method = 'POST', headers = [], ...rest }: WireRequest = {}): Promise<Response> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const { body = '', announced, chunked = false, path = `${pathname}${search}` } = rest;
  const framing = chunked
    ? ['transfer-encoding', 'chunked']
    : ['content-length', String(announced ?? Buffer.byteLength(body))];
  const all = ['host', host, ...headers, ...(method === 'POST' || body.length > 0 ? framing : [])];
  return new Promise((resolve, reject) => {
    const options = { hostname, port, path, method, headers: all, agent: false };
    const sent = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        const lines = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
        resolve(new Response(status === 204 ? null : Buffer.concat(chunks), { status, headers: lines }));
        sent.destroy();
      });
    });
    sent.on('error', reject);
    if (announced === undefined) sent.end(body);
    else sent.flushHeaders();
  });
}
