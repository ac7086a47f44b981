import { HeldClock } from '../../../test/support/held-clock.js';
import { Config } from '../config/index.js';
import { Metrics } from '../metrics/index.js';
import { PrimaryLink } from '../workers/index.js';
import { CallCounts } from './call-counts.js';
import { LimitTimings } from './redis-counts.js';

const MINUTE_MS = 60_000;

describe('CallCounts as a storage of @nestjs/throttler', () => {
  let clock: HeldClock;
  let counts: CallCounts;
  beforeEach(async () => {
    clock = new HeldClock();
    const config = Config.fromEnvironment({ SECRET_KEY: 'a test has no secrets'.padEnd(32, '.') });
    counts = new CallCounts(config, clock, new LimitTimings(), new PrimaryLink(), new Metrics());
    await counts.open();
  });
  afterEach(() => counts.onApplicationShutdown());
  const increment = (key = 'somebody', name = 'tries'): ReturnType<CallCounts['increment']> =>
    counts.increment(key, MINUTE_MS, 2, 0, name);

  it('returns the number of attempts, and blocks until there is capacity', async () => {
    expect(await increment()).toEqual({
      totalHits: 1,
      timeToExpire: 120,
      isBlocked: false,
      timeToBlockExpire: 0,
    });
    expect(await increment()).toMatchObject({ totalHits: 2, isBlocked: false });
    const blocked = await increment();
    expect(blocked).toMatchObject({ totalHits: 2, isBlocked: true });
    clock.pass(blocked.timeToBlockExpire);
    expect(await increment()).toMatchObject({ isBlocked: false });
  });

  it('counts per key and throttler', async () => {
    for (let tries = 0; tries < 3; tries += 1) await increment();
    expect(await increment('somebody else')).toMatchObject({ totalHits: 1, isBlocked: false });
    expect(await increment('somebody', 'other tries')).toMatchObject({ totalHits: 1, isBlocked: false });
  });
});
