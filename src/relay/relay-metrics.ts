import { Injectable } from '@nestjs/common';
import type { ProtocolId } from '../protocols/contract/index.js';
import { Config } from '../platform/config/index.js';
import { Metrics } from '../platform/metrics/index.js';
import { BodyBudget } from './body-budget.js';
import { RunState } from './run-state.js';
import { SharedMemory } from './shared-response.js';

/** In seconds. Above the first few the relay is busy, or a large body was read. */
const ADDED_LATENCIES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Max unknown members counted by name, per protocol, since clients can invent names. */
const MAX_COUNTED_MEMBERS = 100;
const OTHER_MEMBERS = 'other';

/** Metrics of calls in progress. */
@Injectable()
export class RelayMetrics {
  private readonly addedLatency;
  private readonly unknownMembers;
  private readonly countedMembers = new Map<ProtocolId, Set<string>>();

  constructor(
    metrics: Metrics,
    state: RunState,
    bodies: BodyBudget,
    shared: SharedMemory,
    { bodyMemoryBytes }: Config,
  ) {
    this.addedLatency = metrics.histogram(
      'added_latency_seconds',
      'Time in the relay until the first byte of a response, excluding admission and upstream.',
      ADDED_LATENCIES,
    );
    this.unknownMembers = metrics.counter(
      'unknown_members_total',
      'Request members and beta features that no table of the protocol names, by name.',
      ['protocol', 'member'],
    );
    const gauge = (name: string, help: string, value: () => number): void =>
      void metrics.gauge(name, help, [], (measured) => measured.set(value()));
    gauge('calls_in_flight', 'Calls in progress.', () => state.runningCalls);
    gauge('requests_in_flight', 'Requests in progress, of any kind.', () => state.running);
    gauge('body_memory_bytes', 'Request buffer memory in use.', () => bodies.takenBytes);
    gauge('body_memory_limit_bytes', 'Request buffer memory limit (BODY_MEMORY_BYTES).', () => bodyMemoryBytes);
    gauge('shared_answers_bytes', 'Memory used by responses shared through Idempotency-Key.', () => shared.takenBytes);
  }

  /** Counts request members missing in the protocol's table. */
  countUnknown(protocol: ProtocolId, members: readonly string[]): void {
    const counted = this.countedMembers.get(protocol) ?? new Set();
    this.countedMembers.set(protocol, counted);
    for (const name of members) {
      if (counted.size < MAX_COUNTED_MEMBERS) counted.add(name);
      this.unknownMembers.inc({ protocol, member: counted.has(name) ? name : OTHER_MEMBERS });
    }
  }

  /** Records the relay's latency when the first byte is sent. */
  begun(relayMs: number): void {
    this.addedLatency.observe(relayMs / 1000);
  }
}
