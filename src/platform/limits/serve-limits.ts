import { Clock } from '../shared/index.js';
import type { WorkerLinks } from '../workers/index.js';
import type { Return, Taking } from './counts.js';
import { MemoryCounts } from './memory-counts.js';

/** Makes the primary count for all its workers. Places of a worker that exits are returned. */
export function serveLimits(
  links: Pick<WorkerLinks, 'handle' | 'onGone'>,
  counts = new MemoryCounts(new Clock()),
): void {
  /** Places by worker. */
  const held = new Map<number, Map<string, Return>>();
  links.handle(PROBE_TOPIC, () => true);
  links.handle(TAKE_TOPIC, (payload, worker) => {
    const taking = payload as Taking;
    const decision = counts.decide(taking);
    if (decision.refusal === undefined && taking.places.length > 0) {
      const places = taking.places.map(({ key }) => key);
      const ofWorker = held.get(worker) ?? new Map<string, Return>();
      held.set(worker, ofWorker.set(taking.id, { id: taking.id, places, corrections: [] }));
    }
    return decision;
  });
  links.handle(GIVE_BACK_TOPIC, (payload, worker) => {
    const back = payload as Return;
    held.get(worker)?.delete(back.id);
    counts.giveBack(back);
    return true;
  });
  links.onGone((worker) => {
    for (const back of held.get(worker)?.values() ?? []) counts.giveBack(back);
    held.delete(worker);
  });
}

/** Messages from workers to their primary about limits. */
export const TAKE_TOPIC = 'limits.take';
export const GIVE_BACK_TOPIC = 'limits.give-back';
export const PROBE_TOPIC = 'limits.probe';
