import type { FastifyInstance, FastifyReply } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** Far more than the largest body comes in; pieces of a few bytes cost more than they are worth. */
const MAX_CHUNKS = 20_000;

interface UnreadBodyLimits {
  /** So long a client that still sends is listened to after its answer. */
  readonly lingerUnreadMs: number;
  /** Of so many bytes at most. */
  readonly maxBytes: number;
}

/**
 * Answers that are given while the client still sends its body: it gets all of the answer at once, and its connection is
 * closed behind it, but not before what it sends has been thrown away for a while. A socket that is closed with unread
 * bytes in it is reset, and the client then loses the answer that says why.
 */
export function answerBeforeBodies(server: FastifyInstance, limits: UnreadBodyLimits): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    if (!isUnread(request.raw)) return done(null, payload);
    // A body that has come with its headers is there a moment after them.
    setImmediate(() =>
      done(null, isUnread(request.raw) ? withListening(request.raw, reply, payload, limits) : payload),
    );
  });
}

/** The payload as an answer behind which the connection is closed, once the client has had the time to read it. */
function withListening(
  request: IncomingMessage,
  reply: FastifyReply,
  payload: unknown,
  limits: UnreadBodyLimits,
): unknown {
  void reply.header('connection', 'close');
  if (typeof payload !== 'string' || reply.statusCode === 204) return payload;
  void reply.header('content-length', Buffer.byteLength(payload));
  return Readable.from(answerThenListen(payload, request, limits), { objectMode: false });
}

function isUnread({ complete, headers }: IncomingMessage): boolean {
  // A request without a body may be answered before the parser has said that it is complete.
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
}

async function* answerThenListen(
  payload: string,
  request: IncomingMessage,
  limits: UnreadBodyLimits,
): AsyncGenerator<string> {
  yield payload;
  await throwAway(request, limits);
}

/** Resolves when the body has ended, the client has left, or the limits are reached. */
function throwAway(request: IncomingMessage, { lingerUnreadMs, maxBytes }: UnreadBodyLimits): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    let chunks = 0;
    const timer = setTimeout(finish, lingerUnreadMs);
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      chunks += 1;
      if (bytes > maxBytes || chunks > MAX_CHUNKS) finish();
    }
    function finish(): void {
      clearTimeout(timer);
      request.off('data', count).off('end', finish).off('close', finish).pause();
      resolve();
    }
    if (request.destroyed) finish();
    else request.on('data', count).once('end', finish).once('close', finish).resume();
  });
}
