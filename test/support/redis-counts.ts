import { LimitTimings, RedisCounts } from '../../src/platform/limits/redis-counts.js';
import { RedisLink } from '../../src/platform/limits/redis-link.js';
import { Secret } from '../../src/platform/shared/index.js';

/** The counts of one process in Redis, to be opened. */
export function redisCounts(url: string, timings: Partial<LimitTimings> = {}): RedisCounts {
  const times = { ...new LimitTimings(), ...timings };
  return new RedisCounts(new RedisLink(new Secret(url), times.silenceMs), (key) => `test:${key}`, times);
}
