// The upstream of every run: answers by the name of the model, and counts what it could write. A process of its own;
// listens on the port it is given, says it over its channel and ends with it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Behaviour,
  behaviourIn,
  behaviourOf,
  FAST_EVENTS,
  FLOOD_BYTES,
  PACED_EVENTS,
} from '../work/behaviours.ts';
import type { ProtocolEndpoint } from '../work/protocol.ts';
import { PROTOCOLS } from '../work/protocols.ts';
import { Pacer } from './pacer.ts';

const EVENT_STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
/** The model stands at the beginning of a request, unless somebody has put it together anew. */
const ENOUGH_BYTES = 400;

const pacer = new Pacer();

/** A protocol with what can be made beforehand. */
class PreparedResponses {
  readonly protocol: ProtocolEndpoint;
  readonly head: Record<string, string | number>;
  readonly fast: Buffer;
  readonly paced: readonly Buffer[];
  readonly large: Buffer;

  constructor(protocol: ProtocolEndpoint) {
    this.protocol = protocol;
    this.head = { 'content-type': 'application/json', 'content-length': protocol.answer.length };
    const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => protocol.event(index));
    this.fast = Buffer.from(protocol.opening + numbered(FAST_EVENTS).join('') + protocol.closing(FAST_EVENTS));
    this.paced = numbered(PACED_EVENTS).map((event) => Buffer.from(event));
    this.large = Buffer.from(protocol.event(0, 'x'.repeat(16_000)));
  }
}

const answersOf = new Map(PROTOCOLS.map((protocol) => [`/v1${protocol.path}`, new PreparedResponses(protocol)]));

const send: Readonly<Record<Behaviour, (response: ServerResponse, answers: PreparedResponses) => void>> = {
  answer(response, { head, protocol }) {
    response.writeHead(200, head).end(protocol.answer);
  },
  fast(response, { fast }) {
    response.writeHead(200, EVENT_STREAM).end(fast);
  },
  translated: (response, answers) => send.fast(response, answers),
  idle(response, { protocol }) {
    response.writeHead(200, EVENT_STREAM).write(protocol.opening + protocol.event(0));
  },
  paced(response, { protocol, paced }) {
    response.writeHead(200, EVENT_STREAM).write(protocol.opening + String(paced[0]));
    let next = 1;
    const stop = pacer.add(() => {
      const event = paced[next++];
      if (event !== undefined) return void response.write(event);
      stop();
      response.end(protocol.closing(PACED_EVENTS));
    });
    response.once('close', stop);
  },
  flood(response, { protocol, large }) {
    response.writeHead(200, EVENT_STREAM).write(protocol.opening);
    floods.add(response);
    response.once('close', () => floods.delete(response));
    let left = FLOOD_BYTES;
    const pour = (): void => {
      for (; left > 0; left -= large.length) if (!response.write(large)) return;
      response.end(protocol.closing(1));
    };
    response.on('drain', pour);
    pour();
  },
};

/** Those that are under way. */
const floods = new Set<ServerResponse>();

/** What has left this process; what its system holds counts as gone. */
function floodReport(): object {
  const written = [...floods].map(({ socket }) => (socket === null ? 0 : socket.bytesWritten - socket.writableLength));
  return { open: floods.size, most: Math.max(0, ...written), total: written.reduce((all, one) => all + one, 0) };
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/floods') return void response.end(JSON.stringify(floodReport()));
  const answers = answersOf.get(request.url?.split('?')[0] ?? '');
  let beginning = '';
  let behaviour: Behaviour | undefined;
  request.on('data', (chunk: Buffer) => {
    if (behaviour !== undefined) return;
    beginning += chunk.toString('latin1', 0, ENOUGH_BYTES);
    behaviour = behaviourIn(beginning);
    if (behaviour === undefined) beginning += chunk.toString('latin1', ENOUGH_BYTES);
  });
  request.on('end', () => {
    behaviour ??= behaviourOf(beginning);
    if (answers === undefined || behaviour === undefined) response.writeHead(404).end(`${request.url}: ${behaviour}`);
    else send[behaviour](response, answers);
  });
}

const server = createServer({ keepAliveTimeout: 300_000 }, serve);
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.once('disconnect', () => process.exit());
