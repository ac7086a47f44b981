import { Injectable, Logger, type OnModuleInit, type Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService } from '@nestjs/core';
import { ChannelDirectory } from '../catalog/channels/index.js';
import {
  matchesCallPath,
  type ProtocolAdapter,
  type ProtocolId,
  type RequestLine,
  type UpstreamAdapter,
} from '../protocols/contract/index.js';
import { Protocol, Upstream } from '../protocols/decorators/index.js';

/** Renders errors for requests that no protocol claims; most clients understand it. */
const DEFAULT: ProtocolId = 'chat-completions';

/** All protocol adapters, collected once at start. */
@Injectable()
export class AdapterRegistry implements OnModuleInit {
  private readonly logger = new Logger('Adapters');
  private protocols: ReadonlyMap<ProtocolId, ProtocolAdapter> = new Map();
  private upstreams: ReadonlyMap<ProtocolId, UpstreamAdapter> = new Map();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly channels: ChannelDirectory,
  ) {}

  /** @throws Error when two adapters of a side have the same ID, or the default protocol is missing */
  onModuleInit(): void {
    this.protocols = this.collect<ProtocolAdapter>('client', Protocol);
    this.upstreams = this.collect<UpstreamAdapter>('upstream', Upstream);
    this.channels.speaks(new Set(this.upstreams.keys()));
    this.logger.debug(
      `Clients speak ${[...this.protocols.keys()].join(', ')}; upstreams speak ${[...this.upstreams.keys()].join(', ')}.`,
    );
  }

  /** All canonical paths that accept calls. */
  get callPaths(): readonly string[] {
    return [...this.protocols.values()].flatMap((protocol) => protocol.callPaths);
  }

  isCallPath(path: string): boolean {
    return this.callPaths.some((callPath) => matchesCallPath(callPath, path));
  }

  /** Of the protocol that most clients understand. */
  get defaultAdapter(): ProtocolAdapter {
    return this.clientAdapter(DEFAULT);
  }

  /** Of all protocols that clients can use. */
  get clientAdapters(): readonly ProtocolAdapter[] {
    return [...this.protocols.values()];
  }

  /** Default auth by upstream protocol. */
  get defaultAuth(): ReadonlyMap<ProtocolId, UpstreamAdapter['defaultAuth']> {
    return new Map([...this.upstreams].map(([id, { defaultAuth }]) => [id, defaultAuth]));
  }

  /** @throws RangeError when no such adapter is registered */
  clientAdapter(id: ProtocolId): ProtocolAdapter {
    return found(this.protocols.get(id), id);
  }

  /** @throws RangeError when no such adapter is registered */
  upstreamAdapter(id: ProtocolId): UpstreamAdapter {
    return found(this.upstreams.get(id), id);
  }

  /** The adapter that renders errors and lists for a request: by path, or by headers where protocols share a path. */
  claimingAdapter(request: RequestLine): ProtocolAdapter {
    for (const line of [{ ...request, headers: {} }, request])
      for (const protocol of this.protocols.values()) if (protocol.claims(line)) return protocol;
    return this.defaultAdapter;
  }

  private collect<Adapter extends { readonly id: ProtocolId }>(
    side: string,
    decorator: typeof Protocol,
  ): ReadonlyMap<ProtocolId, Adapter> {
    const adapters = new Map<ProtocolId, Adapter>();
    for (const { instance } of this.discovery.getProviders({ metadataKey: decorator.KEY })) {
      const adapter = instance as Adapter;
      if (adapters.has(adapter.id)) throw new Error(`Two ${side} adapters have the id "${adapter.id}".`);
      adapters.set(adapter.id, adapter);
    }
    return adapters;
  }
}

function found<Adapter>(adapter: Adapter | undefined, id: ProtocolId): Adapter {
  if (adapter === undefined) throw new RangeError(`No adapter is registered as "${id}".`);
  return adapter;
}

/** Instantiates the adapters of these modules without an application; they have no dependencies. */
export function adaptersIn(modules: readonly Type[]): {
  readonly protocols: ReadonlyMap<ProtocolId, ProtocolAdapter>;
  readonly upstreams: ReadonlyMap<ProtocolId, UpstreamAdapter>;
} {
  const providers = modules.flatMap(
    (module) => (Reflect.getMetadata(MODULE_METADATA.PROVIDERS, module) ?? []) as readonly unknown[],
  );
  const made = <Adapter extends { readonly id: ProtocolId }>(decorator: typeof Protocol): Map<ProtocolId, Adapter> => {
    const adapters = providers
      .filter((provider): provider is Type<Adapter> => typeof provider === 'function')
      .filter((provider) => Reflect.getMetadata(decorator.KEY, provider) !== undefined)
      .map((Provider) => new Provider());
    return new Map(adapters.map((adapter) => [adapter.id, adapter]));
  };
  return { protocols: made<ProtocolAdapter>(Protocol), upstreams: made<UpstreamAdapter>(Upstream) };
}
