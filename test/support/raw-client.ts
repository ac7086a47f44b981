/** A client below `fetch`, on a bare socket: it sees each write of the relay as a chunk of its own, and may stop reading. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

interface RawHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** `complete`: the response ended as HTTP demands. `cut`: the connection closed before. */
export type RawEnding = 'complete' | 'cut';

interface RawRequest {
  readonly url: string;
  readonly path: string;
  readonly key: string;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class RawClient {
  static readonly #open = new Set<RawClient>();

  /** What each HTTP chunk held: the server makes one of what is written in one turn. A response with a length is a single one. */
  readonly chunks: Buffer[] = [];
  /** Rejects when the connection closed without one. */
  readonly head: Promise<RawHead>;
  readonly ended: Promise<RawEnding>;
  /** When the connection is closed, whoever closed it. */
  readonly closed: Promise<void>;
  /** Whether a single byte has arrived. */
  answered = false;

  #unread = Buffer.alloc(0);
  /** Pieces behind `#unread`, put together only when they can be of use. */
  #more: Buffer[] = [];
  #missing = 0;
  #headRead: RawHead | undefined;
  #gotHead: (head: RawHead) => void = () => undefined;
  #gotEnd: (ending: RawEnding) => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    this.head = new Promise((resolve, reject) => {
      this.#gotHead = resolve;
      socket.once('close', () => reject(new Error('The connection was closed without an answer')));
    });
    this.ended = new Promise((resolve) => (this.#gotEnd = resolve));
    this.head.catch(() => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', () => undefined);
    socket.once('close', () => this.#gotEnd('cut'));
  }

  /** Sends a request whose response may take its time. */
  static async post({ url, path, key, body, headers = {} }: RawRequest): Promise<RawClient> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const client = new RawClient(socket);
    RawClient.#open.add(client);
    socket.once('close', () => RawClient.#open.delete(client));
    const content = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const framing = headers['transfer-encoding'] === undefined && { 'content-length': content.length };
    const lines = { host, authorization: `Bearer ${key}`, ...framing, ...headers };
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n`), content]));
    return client;
  }

  /** For `afterEach`: a client that a failed test has left behind keeps its server from ending. */
  static closeAll(): void {
    for (const client of RawClient.#open) client.close();
  }

  /** The body so far. */
  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.body.toString('utf8');
  }

  /** Sends more of a body that its headers have announced. True when the system has taken it, false when the connection is closed. */
  send(bytes: Buffer | string): Promise<boolean> {
    if (this.socket.destroyed) return Promise.resolve(false);
    const taken = new Promise<boolean>((resolve) => this.socket.write(bytes, (error) => resolve(!error)));
    return Promise.race([taken, this.closed.then(() => false)]);
  }

  /** Stops taking bytes: the system's buffers fill up, then the server's. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.destroy();
  }

  /** The whole body, once the response has ended as it should. */
  async complete(): Promise<Buffer> {
    const ending = await this.ended;
    this.close();
    if (ending === 'cut')
      throw new Error(`The answer was cut after ${this.body.length} bytes: ${this.text.slice(-500)}`);
    return this.body;
  }

  #read(bytes: Buffer): void {
    this.answered = true;
    this.#more.push(bytes);
    this.#missing -= bytes.length;
    if (this.#missing > 0) return;
    this.#unread = Buffer.concat([this.#unread, ...this.#more]);
    this.#more = [];
    if (this.#headRead === undefined && !this.#readHead()) return;
    const length = this.#headRead?.headers.get('content-length');
    if (length === undefined) while (this.#readChunk());
    else if (this.#unread.length < Number(length)) this.#missing = Number(length) - this.#unread.length;
    else {
      this.chunks.push(this.#unread.subarray(0, Number(length)));
      this.#gotEnd('complete');
    }
  }

  #readHead(): boolean {
    const end = this.#unread.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const [first = '', ...lines] = this.#unread.toString('latin1', 0, end).split('\r\n');
    this.#unread = this.#unread.subarray(end + 4);
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    this.#headRead = { status: Number(first.split(' ')[1]), headers: new Map(headers) };
    this.#gotHead(this.#headRead);
    return true;
  }

  #readChunk(): boolean {
    const line = this.#unread.indexOf('\r\n');
    if (line === -1) return false;
    const size = Number.parseInt(this.#unread.toString('latin1', 0, line), 16);
    const end = line + 2 + size;
    this.#missing = end + 2 - this.#unread.length;
    if (this.#missing > 0) return false;
    if (size === 0) this.#gotEnd('complete');
    else this.chunks.push(Buffer.from(this.#unread.subarray(line + 2, end)));
    this.#unread = this.#unread.subarray(end + 2);
    return size > 0;
  }
}
