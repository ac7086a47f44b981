import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'client';
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const KINDS: Readonly<Record<number, 'server' | 'client'>> = { 2: 'server', 3: 'client' };

/** What takes traces over OTLP/HTTP in JSON, on a free port of loopback. */
export class Collector {
  /** Bodies as they came. */
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** What it answers with. */
  status = 200;

  private constructor(
    private readonly server: Server,
    /** `http://127.0.0.1:PORT` */
    readonly url: string,
  ) {}

  static async start(): Promise<Collector> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const collector = new Collector(server, `http://127.0.0.1:${port}`);
    server.on('request', (request, response) => void collector.take(request, response));
    return collector;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.url === '/v1/traces' && this.status === 200) {
      this.bodies.push(body);
      this.headers.push(request.headers);
    }
    response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}');
  }

  /** In no order. */
  get spans(): CollectedSpan[] {
    return this.bodies.flatMap((body) => spansIn(JSON.parse(body) as TraceExport));
  }

  /** What it was told of whoever sends spans. */
  get resource(): Readonly<Record<string, unknown>> {
    const [first] = this.bodies;
    const exported = first === undefined ? undefined : (JSON.parse(first) as TraceExport);
    return valuesOf(exported?.resourceSpans[0]?.resource.attributes ?? []);
  }

  reset(): void {
    this.bodies.length = 0;
    this.headers.length = 0;
    this.status = 200;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close().closeAllConnections();
    await closed;
  }
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface TraceExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code?: number };
}

const spansIn = ({ resourceSpans }: TraceExport): CollectedSpan[] =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(spanOf)));

const spanOf = (span: ExportedSpan): CollectedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  traceState: span.traceState,
  name: span.name,
  kind: KINDS[span.kind] ?? 'server',
  startedAt: Number(span.startTimeUnixNano) / 1e6,
  endedAt: Number(span.endTimeUnixNano) / 1e6,
  isError: span.status?.code === 2,
  attributes: valuesOf(span.attributes),
});

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
