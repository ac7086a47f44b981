/** One request as the scripted upstream received it, with what became of its response. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import type { JsonObject } from '../../src/platform/shared/index.js';

/** `finished`: we ended the response. `left`: the client closed before that. `cut`: the script or the test destroyed it. */
export type ConnectionEnd = 'finished' | 'left' | 'cut';

/** What is kept of a sent body. Endless streams would fill the memory of the test itself. */
const MOST_BYTES_KEPT = 8 * 1024 * 1024;

export class RecordedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Which protocol the path belongs to; undefined for other paths. */
  readonly protocol: string | undefined;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they stood on the wire. */
  readonly rawHeaders: readonly string[];
  /** When the body was complete: `performance.now()`, in milliseconds. */
  readonly receivedAt = performance.now();
  /** When the client closed before we finished (`performance.now()`); undefined otherwise. */
  closedAt: number | undefined;
  /** Settles when the response is over, whoever ended it. */
  readonly closed: Promise<ConnectionEnd>;
  /** Number of body bytes written so far. */
  sentBytes = 0;

  readonly #resolveClosed: (closing: ConnectionEnd) => void;
  readonly #sent: Buffer[] = [];

  constructor(
    incoming: IncomingMessage,
    /** As it arrived, still encoded if `content-encoding` says so. */
    readonly body: Buffer,
    protocolOf: (request: Pick<RecordedRequest, 'path'>) => string | undefined,
  ) {
    const [path = '', ...query] = (incoming.url ?? '').split('?');
    this.method = incoming.method ?? '';
    this.path = path;
    this.protocol = protocolOf(this);
    this.query = new URLSearchParams(query.join('?'));
    this.headers = incoming.headers;
    this.rawHeaders = incoming.rawHeaders;
    let resolveClosed: (closing: ConnectionEnd) => void = () => undefined;
    this.closed = new Promise((resolve) => (resolveClosed = resolve));
    this.#resolveClosed = resolveClosed;
  }

  /** The body as a JSON object. @throws SyntaxError if it is no JSON. */
  get json(): JsonObject {
    return JSON.parse(this.body.toString('utf8')) as JsonObject;
  }

  /** The body bytes of the response written so far, exactly (the first 8 MiB of them). */
  get sent(): Buffer {
    return Buffer.concat(this.#sent);
  }

  /** For the player. */
  recordSent(piece: Buffer): void {
    if (this.sentBytes < MOST_BYTES_KEPT) this.#sent.push(piece.subarray(0, MOST_BYTES_KEPT - this.sentBytes));
    this.sentBytes += piece.length;
  }

  /** For the server. */
  recordClosed(closing: ConnectionEnd): void {
    if (closing === 'left') this.closedAt = performance.now();
    this.#resolveClosed(closing);
  }
}
