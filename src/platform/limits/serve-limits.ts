import { Clock } from '../shared/index.js';
import type { WorkerLinks } from '../workers/index.js';
import type { Release, Acquisition } from './counts.js';
import { MemoryCounts } from './memory-counts.js';

/** Makes the primary count for all its workers. Slots of a worker that exits are returned. */
export function serveLimits(
  links: Pick<WorkerLinks, 'handle' | 'onGone'>,
  counts = new MemoryCounts(new Clock()),
): void {
  /** Slots by worker. */
  const held = new Map<number, Map<string, Release>>();
  links.handle(PROBE_TOPIC, () => true);
  links.handle(ACQUIRE_TOPIC, (payload, worker) => {
    const acquisition = payload as Acquisition;
    const decision = counts.decide(acquisition);
    if (decision.refusal === undefined && acquisition.slots.length > 0) {
      const slots = acquisition.slots.map(({ key }) => key);
      const ofWorker = held.get(worker) ?? new Map<string, Release>();
      held.set(worker, ofWorker.set(acquisition.id, { id: acquisition.id, slots, corrections: [] }));
    }
    return decision;
  });
  links.handle(RELEASE_TOPIC, (payload, worker) => {
    const back = payload as Release;
    held.get(worker)?.delete(back.id);
    counts.release(back);
    return true;
  });
  links.onGone((worker) => {
    for (const back of held.get(worker)?.values() ?? []) counts.release(back);
    held.delete(worker);
  });
}

/** Messages from workers to their primary about limits. */
export const ACQUIRE_TOPIC = 'limits.acquire';
export const RELEASE_TOPIC = 'limits.release';
export const PROBE_TOPIC = 'limits.probe';
