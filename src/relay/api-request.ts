import type { FastifyRequest } from 'fastify';

export const isApiAddress = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url);

/** Whether a request comes from a program that looks for the API, and not from a person who looks for a page. */
export function isApiRequest(request: FastifyRequest): boolean {
  if (isApiAddress(request.url)) return true;
  return !['GET', 'HEAD'].includes(request.method) && !isForm(request);
}

/**
 * Whether a client wants a WebSocket and no answer. Whoever offers other protocols takes an answer as well, as HTTP has
 * it: `curl --http2` does so with every request.
 */
export const wantsWebSocket = ({ headers }: FastifyRequest): boolean =>
  headers.upgrade?.split(',').some((protocol) => protocol.trim().toLowerCase() === 'websocket') ?? false;

/** Browsers say that they navigate only over TLS and on localhost, but always what they want to be given. */
const isForm = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-mode'] === 'navigate' ||
  headers.accept?.includes('text/html') === true ||
  headers['content-type']?.startsWith('multipart/form-data') === true;
