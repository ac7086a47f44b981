// What is measured: something that answers calls, with the processes whose work that is.
import type { Target } from '../load/jobs.ts';
import type { Cores } from '../machine/cores.ts';
import type { ProbeClient } from '../probe/client.ts';
import type { ProtocolEndpoint } from '../work/protocol.ts';

export type SubjectName = 'direct' | 'proxy' | 'relay' | 'workers' | 'peer';

export interface Subject {
  /** A `SubjectName`, or that of a running gateway. */
  readonly name: string;
  readonly target: Target;
  /** The same for calls whose upstream speaks the other protocol; undefined when it cannot translate them. */
  readonly translating: Target | undefined;
  /** The measured process; the upstream itself has none. */
  readonly pid: number | undefined;
  /** Processes that work for it, apart from its database. */
  readonly workerPids?: readonly number[];
  /** The postmaster that works for it. */
  readonly databasePid: number | undefined;
  /** Where it was started with one. */
  readonly probe: ProbeClient | undefined;
  stop(): Promise<void>;
}

/** What every subject is started with. */
export interface SubjectContext {
  /** `http://127.0.0.1:PORT` of the upstream. */
  readonly upstream: string;
  readonly protocol: ProtocolEndpoint;
  /** What the upstream of translated calls speaks. */
  readonly foreign: ProtocolEndpoint;
  /** Undefined: nothing is pinned. */
  readonly cores: Cores | undefined;
}

/** How Node is to run a subject otherwise than as shipped. */
export interface ProcessOptions {
  readonly nodeOptions: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly probe: ProbeClient | undefined;
}

export const AS_SHIPPED: ProcessOptions = { nodeOptions: [], environment: {}, probe: undefined };
