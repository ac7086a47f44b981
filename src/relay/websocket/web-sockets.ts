import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer } from 'ws';
import { Config } from '../../platform/config/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { ProtocolId } from '../../protocols/contract/index.js';
import { AdapterRegistry } from '../adapter.registry.js';
import { Bodies } from '../bodies.js';
import { BodyBudget } from '../body-budget.js';
import { arrivalOf, callerOf, requestLineOf } from '../call-context.js';
import { RelayTimings } from '../relay-timings.js';
import { RunState } from '../run-state.js';
import { UpstreamSockets } from '../upstream/upstream-sockets.js';
import { type ConnectionContext, SocketConnection } from './connection.js';
import { SocketCalls } from './socket-calls.js';
import type { Upgrade } from './upgrades.js';

/** Idle connections per key and process; beyond this the one that is idle for longest is closed. */
export const MAX_IDLE_PER_KEY = 256;
/** Share of the request buffer memory for earlier responses of connections. */
const KEPT_FRACTION = 1 / 4;

/** Memory of all connections for earlier responses. The least recently used ones are forgotten first. */
class KeptResponses {
  private total = 0;
  /** By time of last use, oldest first. */
  private readonly bytesOf = new Map<SocketConnection, number>();

  constructor(private readonly limit: number) {}

  note(connection: SocketConnection): void {
    this.remove(connection);
    const { keptBytes } = connection;
    if (keptBytes === 0) return;
    this.bytesOf.set(connection, keptBytes);
    this.total += keptBytes;
    for (const oldest of this.bytesOf.keys()) {
      if (this.total <= this.limit) return;
      oldest.forget();
      this.remove(oldest);
    }
  }

  remove(connection: SocketConnection): void {
    this.total -= this.bytesOf.get(connection) ?? 0;
    this.bytesOf.delete(connection);
  }
}

/** All WebSockets of this process. */
@Injectable()
export class WebSockets implements OnModuleInit, OnModuleDestroy, ConnectionContext {
  private readonly server: WebSocketServer;
  private readonly connections = new Set<SocketConnection>();
  /** By key ID, longest idle first. */
  private readonly idle = new Map<string, Set<SocketConnection>>();
  private readonly kept: KeptResponses;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    readonly calls: SocketCalls,
    readonly bodies: Bodies,
    readonly budget: BodyBudget,
    readonly timings: RelayTimings,
    readonly upstreams: UpstreamSockets,
    private readonly adapters: AdapterRegistry,
    private readonly state: RunState,
    { maxBodyBytes, bodyMemoryBytes }: Config,
    metrics: Metrics,
  ) {
    this.server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxBodyBytes,
      // No subprotocol is spoken; an offered one may contain a key.
      handleProtocols: () => false,
    });
    this.kept = new KeptResponses(bodyMemoryBytes * KEPT_FRACTION);
    metrics.gauge('websockets_open', 'Open WebSockets.', [], (measured) => measured.set(this.connections.size));
  }

  onModuleInit(): void {
    this.state.onDrain(() => {
      for (const connection of this.connections) connection.drain();
    });
    this.timer = setInterval(() => this.sweep(), this.timings.pingMs).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.terminate();
  }

  /** Ends all connections, and with them their calls. */
  terminate(): void {
    for (const connection of this.connections) connection.terminate();
  }

  /** Completes a handshake that passed the guard. @throws AppError when it is not one, or has credentials in its query */
  open(protocol: ProtocolId, { socket, head }: Upgrade, request: FastifyRequest, reply: FastifyReply): void {
    const adapter = this.adapters.clientAdapter(protocol);
    const handshake = requestLineOf(request);
    requireHandshake(request);
    if (adapter.socket === undefined) throw new TypeError(`${protocol} has no WebSockets.`);
    const { socket: session } = adapter;
    const { headers, rawHeaders } = request.raw;
    const context = { adapter, line: session.lineOf(handshake), headers, rawHeaders, ip: arrivalOf(request).ip };
    const caller = callerOf(request);
    reply.hijack();
    this.state.handOver(socket, reply.raw);
    const addIds = (lines: string[]): unknown => lines.push(`x-request-id: ${request.id}`, `request-id: ${request.id}`);
    this.server.on('headers', addIds);
    this.server.handleUpgrade(request.raw, socket, head, (webSocket) =>
      this.add(new SocketConnection(this, webSocket, socket, { ...context, caller }, session, request.id)),
    );
    this.server.off('headers', addIds);
  }

  onChange(connection: SocketConnection): void {
    const { keyId } = connection.handshake.caller;
    const idle = this.idle.get(keyId) ?? new Set();
    this.kept.note(connection);
    idle.delete(connection);
    if (!connection.isBusy) idle.add(connection);
    if (idle.size === 0) this.idle.delete(keyId);
    else this.idle.set(keyId, idle);
    const [oldest] = idle;
    if (oldest !== undefined && idle.size > MAX_IDLE_PER_KEY) {
      idle.delete(oldest);
      oldest.retire(new TooManyIdle());
    }
  }

  onClose(connection: SocketConnection): void {
    const { keyId } = connection.handshake.caller;
    this.connections.delete(connection);
    this.kept.remove(connection);
    const idle = this.idle.get(keyId);
    idle?.delete(connection);
    if (idle?.size === 0) this.idle.delete(keyId);
  }

  private add(connection: SocketConnection): void {
    this.connections.add(connection);
    this.onChange(connection);
    if (this.state.draining) connection.drain();
  }

  private sweep(): void {
    for (const connection of this.connections) connection.sweep();
  }
}

/** `Sec-WebSocket-Key`: 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';
/** Names under which clients put keys into a query, where proxies log them. */
const CREDENTIALS = /^(?:api[-_]?key|key|token|access[-_]?token|authorization)$/i;

function requireHandshake(request: FastifyRequest): void {
  const { headers } = request;
  if (headers['sec-websocket-version'] !== VERSION)
    throw new AppError('upgrade_required', `Only version ${VERSION} of WebSockets is supported. Use it or HTTP POST.`);
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw new AppError('invalid_request', 'The Sec-WebSocket-Key header must be 16 bytes in base64.');
  const { query } = requestLineOf(request);
  if ([...new URLSearchParams(query).keys()].some((name) => CREDENTIALS.test(name)))
    throw new AppError('invalid_request', 'API keys must not be in the query, where they are logged. Use a header.');
}

/** On this code, clients connect again. */
class TooManyIdle extends AppError {
  constructor() {
    super('invalid_request', `This key has more than ${MAX_IDLE_PER_KEY} idle connections; the oldest was closed.`, {
      fault: 'websocket_connection_limit_reached',
    });
  }
}
