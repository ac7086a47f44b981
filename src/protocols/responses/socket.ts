import { headerOf, type RequestLine, type SocketProtocol } from '../contract/index.js';
import { ResponsesSession } from './socket-session.js';

/** Headers of the handshake; and the key that a repeated request would have, which cannot be that of every call. */
const NOT_OF_CALLS: ReadonlySet<string> = new Set(['connection', 'upgrade', 'idempotency-key']);
const BETA = 'openai-beta';
const SOCKET_BETA = /^responses_websockets=/;

/** The vendor's WebSocket mode. */
export const RESPONSES_SOCKET: Omit<SocketProtocol, 'path'> = {
  open: () => new ResponsesSession(),
  lineOf: (handshake) => ({ ...handshake, method: 'POST', query: '', headers: headersOfCalls(handshake) }),
};

function headersOfCalls(handshake: RequestLine): RequestLine['headers'] {
  const isOfCalls = ([name]: [string, unknown]): boolean =>
    !NOT_OF_CALLS.has(name) && !name.startsWith('sec-websocket-') && name !== BETA;
  const betas = (headerOf(handshake, BETA) ?? '').split(',').map((beta) => beta.trim());
  const others = betas.filter((beta) => beta !== '' && !SOCKET_BETA.test(beta)).join(', ');
  return {
    ...Object.fromEntries(Object.entries(handshake.headers).filter(isOfCalls)),
    ...(others !== '' && { [BETA]: others }),
  };
}
