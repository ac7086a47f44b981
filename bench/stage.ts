// The upstream, the load generators and what is measured, as the scenarios find them.
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { LoadGenerator } from './load-generator.ts';
import { end, firstMessage, pidOf, startNode } from './machine/child.ts';
import { divideCores, pin } from './machine/cores.ts';
import { type Options, PEERS_PORT } from './options.ts';
import { direct } from './subjects/direct.ts';
import { installPeer, startPeer } from './subjects/peer.ts';
import { startProxy } from './subjects/proxy.ts';
import { startRelay } from './subjects/relay.ts';
import { profiled } from './subjects/profile.ts';
import { startWorkers } from './subjects/workers.ts';
import {
  AS_SHIPPED,
  type ProcessOptions,
  type Subject,
  type SubjectName,
  type SubjectContext,
} from './subjects/subject.ts';
import { protocolOf } from './work/protocols.ts';

export class Stage {
  readonly options: Options;
  readonly surroundings: SubjectContext;
  /** Why nothing is pinned; undefined when it is. */
  readonly notPinned: string | undefined;
  /** Name and version of the peer, when it takes part. */
  readonly peer: string | undefined;
  readonly load: LoadGenerator;
  /** Who does something else at the same time. */
  readonly other: LoadGenerator;
  readonly upstreamPid: number;
  private readonly upstream: ChildProcess;

  private constructor(
    options: Options,
    upstream: ChildProcess,
    surroundings: SubjectContext,
    generators: readonly [LoadGenerator, LoadGenerator],
    notPinned: string | undefined,
    peer: string | undefined,
  ) {
    this.options = options;
    this.upstream = upstream;
    this.upstreamPid = pidOf(upstream);
    this.surroundings = surroundings;
    [this.load, this.other] = generators;
    this.notPinned = notPinned;
    this.peer = peer;
  }

  static async set(options: Options): Promise<Stage> {
    const peer = options.peers ? installPeer() : undefined;
    const division = divideCores();
    const [cores, notPinned] = typeof division === 'string' ? [undefined, division] : [division, undefined];
    // Whatever is started from here on inherits the place; what is measured is moved to its own.
    if (cores) pin(process.pid, cores.others);
    const ports = options.gateways === undefined ? [] : [String(PEERS_PORT)];
    const upstream = startNode([join(import.meta.dirname, 'servers/upstream.ts'), ...ports], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const { port } = (await firstMessage(upstream)) as { port: number };
    const [protocol, foreign] = [protocolOf(options.protocol), protocolOf(options.foreign)];
    const surroundings = { upstream: `http://127.0.0.1:${port}`, protocol, foreign, cores };
    const generators = [await LoadGenerator.start(), await LoadGenerator.start()] as const;
    return new Stage(options, upstream, surroundings, generators, notPinned, peer);
  }

  /** Those that take part in this run; the relay alone when it is profiled. */
  get names(): readonly SubjectName[] {
    if (this.options.profile) return ['relay'];
    return ['direct', 'proxy', 'relay', ...(this.peer === undefined ? [] : (['peer'] as const))];
  }

  start(name: SubjectName, extras: ProcessOptions = AS_SHIPPED): Promise<Subject> {
    switch (name) {
      case 'direct':
        return Promise.resolve(direct(this.surroundings));
      case 'proxy':
        return startProxy(this.surroundings, extras);
      case 'relay':
        return startRelay(this.surroundings, this.options.profile ? profiled(extras, this.options.out) : extras);
      case 'workers':
        return startWorkers(this.surroundings, extras);
      case 'peer':
        return startPeer(this.surroundings, extras);
      default:
        return name satisfies never;
    }
  }

  async clear(): Promise<void> {
    await Promise.all([this.load.stop(), this.other.stop(), end(this.upstream)]);
  }
}
