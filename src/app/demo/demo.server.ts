/**
 * The built-in upstream: a local HTTP server for all client protocols with a small demo model. Handles sockets, pacing
 * and routing; checks no credentials.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type JsonObject, maskKeys } from '../../platform/shared/index.js';
import { chatCompletionsDemo } from './chat-completions.protocol.js';
import { parseBody } from './demo.body.js';
import { respondTo, type DemoCall, type DemoProtocol, DemoRefusal, type DemoStream } from './demo.response.js';
import { countMessageTokens, messagesDemo } from './messages.protocol.js';
import { responsesDemo } from './responses.protocol.js';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Pace of the demo model. */
interface DemoPace {
  /** Ms before the first token, and before an unstreamed response. */
  readonly firstTokenMs: number;
  /** Ms between tokens of a stream. */
  readonly tokenMs: number;
}

export interface DemoUpstream {
  /** `http://127.0.0.1:PORT/v1`: prefix of `/responses`, `/chat/completions`, `/messages`. */
  readonly baseUrl: string;
  /** Stops listening and aborts running responses; resolves when all sockets are closed. */
  close(): Promise<void>;
}

const NATURAL_PACE: DemoPace = { firstTokenMs: 250, tokenMs: 25 };

/** Starts the demo upstream on a free loopback port; it runs until closed. Rejects if no port can be opened. */
export async function startDemoUpstream(pace: Partial<DemoPace> = {}): Promise<DemoUpstream> {
  const server = createServer((request, response) => {
    void handle(request, response, { ...NATURAL_PACE, ...pace });
  });
  // Exclusive: otherwise workers would share the port and get each other's calls.
  server.listen({ port: 0, host: '127.0.0.1', exclusive: true });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Handles one request and never rejects: a bad call must not end the process. */
async function handle(request: IncomingMessage, response: ServerResponse, pace: DemoPace): Promise<void> {
  const requestId = `req_${randomUUID().replaceAll('-', '')}`;
  response.setHeader('request-id', requestId);
  response.setHeader('x-request-id', requestId);
  response.on('error', () => response.destroy());
  const route = findRoute(request);
  try {
    await answer(route, request, response, pace);
  } catch (error) {
    // Usually the client has left.
    if (response.closed) return;
    if (response.headersSent) response.destroy();
    else refuse(route.protocol, asRefusal(error), response, requestId);
  }
}

async function answer(route: Route, request: IncomingMessage, response: ServerResponse, pace: DemoPace): Promise<void> {
  if (route.type === 'unknown') throw route.refusal;
  if (route.type === 'plain') return sendJson(response, 200, route.reply());
  const body = parseBody(await readBytes(request));
  if (route.type === 'count') return sendJson(response, 200, route.count(body));
  const question = route.protocol.parseRequest(body);
  const call: DemoCall = {
    id: randomUUID().replaceAll('-', ''),
    createdAt: Math.floor(Date.now() / 1000),
    body,
    question,
    response: respondTo(question),
  };
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (question.stream) return sendStream(response, route.protocol.renderStream(call), pace, gone.signal);
  await wait(pace.firstTokenMs, undefined, { signal: gone.signal });
  return sendJson(response, 200, route.protocol.renderResponse(call));
}

/** Writes a stream at the model's pace. Rejects when `gone` fires. Without back-pressure, since responses are small. */
async function sendStream(
  response: ServerResponse,
  stream: DemoStream,
  pace: DemoPace,
  gone: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  for (const event of stream.opening) response.write(event);
  for (const [index, event] of stream.pieces.entries()) {
    await wait(index === 0 ? pace.firstTokenMs : pace.tokenMs, undefined, { signal: gone });
    response.write(event);
  }
  for (const event of stream.closing) response.write(event);
  response.end();
}

/** @throws DemoRefusal (413) as soon as the body is too large; rejects if the client leaves while sending it. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early must not destroy the socket, which still carries the error.
  const incoming: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new DemoRefusal('The request body is too large.', { status: 413 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function asRefusal(error: unknown): DemoRefusal {
  return error instanceof DemoRefusal ? error : new DemoRefusal('The demo upstream failed.', { status: 500 });
}

function refuse(protocol: DemoProtocol, refusal: DemoRefusal, response: ServerResponse, requestId: string): void {
  // The rest of the request may be unread, so the connection cannot be reused.
  response.setHeader('connection', 'close');
  sendJson(response, refusal.status, protocol.renderRefusal(refusal, requestId));
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}

/** Routes of the demo upstream. */

/** The listed model name; any other is accepted as well. */
export const DEMO_MODEL = 'demo';

/** The handler of a request, and the protocol of its errors. */
type Route = { readonly protocol: DemoProtocol } & (
  | { readonly type: 'generate' }
  | { readonly type: 'count'; count(body: JsonObject): JsonObject }
  | { readonly type: 'plain'; reply(): JsonObject }
  | { readonly type: 'unknown'; readonly refusal: DemoRefusal }
);

const ROUTES: Readonly<Record<string, Route>> = {
  'POST /v1/responses': { type: 'generate', protocol: responsesDemo },
  'POST /v1/chat/completions': { type: 'generate', protocol: chatCompletionsDemo },
  'POST /v1/messages': { type: 'generate', protocol: messagesDemo },
  'POST /v1/messages/count_tokens': { type: 'count', protocol: messagesDemo, count: countMessageTokens },
  'GET /v1/models': { type: 'plain', protocol: responsesDemo, reply: listModels },
};

/** Never fails: unknown paths get a 404 route. The query is ignored. */
function findRoute(request: IncomingMessage): Route {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  const route = ROUTES[`${request.method} ${path}`];
  if (route !== undefined) return route;
  const refusal = new DemoRefusal(`The demo upstream has no ${request.method} ${maskKeys(path)}.`, { status: 404 });
  return { type: 'unknown', protocol: speaksMessages(request, path) ? messagesDemo : responsesDemo, refusal };
}

function speaksMessages(request: IncomingMessage, path: string): boolean {
  return path.startsWith('/v1/messages') || request.headers['anthropic-version'] !== undefined;
}

/** A list for clients of both vendors. */
function listModels(): JsonObject {
  const model = {
    id: DEMO_MODEL,
    object: 'model',
    created: 0,
    owned_by: 'switchboard',
    type: 'model',
    display_name: 'Built-in demo model',
    created_at: '1970-01-01T00:00:00Z',
  };
  return { object: 'list', data: [model], has_more: false, first_id: DEMO_MODEL, last_id: DEMO_MODEL };
}
