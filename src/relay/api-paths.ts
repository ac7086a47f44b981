import type { FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';

/** What may stand, repeated, before an endpoint when a client was given another base address than it expects. */
const PREFIX = /^(?:\/(?:v1|chat\/completions|responses|messages))*(?=\/)/;
const ENDPOINT =
  /^\/(?:chat\/completions|responses(?:\/.+)?|messages(?:\/count_tokens)?|models(?:\/.+)?|key|generations\/.+)$/;
/** What stands before the path when the address is whole, as clients of a proxy write it. */
const ORIGIN = /^https?:\/\/[^/?]*/i;
const BARE = /^(?:\/v1)*\/?$/;

/**
 * The usual form of an address: `/v1/messages` for `/messages`, `/v1/v1/messages`, `/v1/messages/v1/messages/` and the
 * like. Anything that is no endpoint of ours is left as it is, the query always.
 */
export function canonicalPath(url: string, method: string, headers: IncomingHttpHeaders): string {
  // `OPTIONS *` asks about the server as a whole.
  const local = url === '*' ? '/' : url.replace(ORIGIN, '');
  const mark = local.indexOf('?');
  const path = decodable(mark < 0 ? local : local.slice(0, mark)) || '/';
  const query = mark < 0 ? '' : local.slice(mark);
  for (const rest of endings(withoutSlashes(path))) if (ENDPOINT.test(rest)) return `/v1${rest}${query}`;
  // A program that posts to the bare base address: its headers say whether it speaks Messages.
  if (method === 'POST' && BARE.test(path)) return `${speaksMessages(headers) ? '/v1/messages' : '/v1'}${query}`;
  // One that asks whether anybody is there. A person gets a page.
  if (path === '/' && (method === 'HEAD' || (method === 'GET' && !readsPages(headers)))) return `/health${query}`;
  return `${path}${query}`;
}

/** Without the slashes at its end. A loop, since a pattern for them takes quadratic time over long runs of slashes. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** A percent sign that begins no escape stands for itself: the framework would refuse the address in words of its own. */
function decodable(path: string): string {
  try {
    decodeURI(path);
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}

/** The path without its prefixes, the longest prefix first; an endpoint's own name may look like one. */
function* endings(path: string): Iterable<string> {
  const longest = PREFIX.exec(path)?.[0] ?? '';
  for (let length = longest.length; length > 0; length = longest.lastIndexOf('/', length - 1)) yield path.slice(length);
  yield path;
}

const speaksMessages = (headers: IncomingHttpHeaders): boolean =>
  ['anthropic-version', 'vendor-version', 'x-api-key'].some((name) => headers[name] !== undefined);

const readsPages = ({ accept }: IncomingHttpHeaders): boolean => accept?.includes('text/html') ?? false;

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
