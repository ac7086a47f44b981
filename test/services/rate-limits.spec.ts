import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { limitedCaller, metric } from '../support/limited.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, type Gate, gate, waitFor } from '../support/scripted-upstream.js';
import { RedisServer } from '../support/redis-server.js';

/** What a call waits for a response of Redis at most. */
const TIMEOUT_MS = 250;

describe('rate limits of two processes with one Redis', () => {
  let redis: RedisServer;
  let relays: RelayApp[];
  let caller: TestCaller;
  let warned: string[];

  beforeAll(async () => {
    redis = await RedisServer.start();
    const first = await RelayApp.start({}, { REDIS_URL: redis.url });
    relays = [first, await RelayApp.start({}, { REDIS_URL: redis.url, DATABASE_URL: first.databaseUrl })];
    await eventually(() => expectDegraded(0));
  }, 60_000);
  beforeEach(() => {
    warned = [];
    const ignore = (): void => undefined;
    const warn = (message: unknown): number => warned.push(String(message));
    Logger.overrideLogger({ log: ignore, error: ignore, warn });
  });
  afterEach(() => {
    Logger.overrideLogger(false);
    relays[1]!.upstream.reset();
  });
  afterAll(async () => {
    for (const relay of relays.toReversed()) await relay.close();
    await redis.stop();
  });

  /** The channels are those of the second one's upstream. */
  const upstream = (): RelayApp['upstream'] => relays[1]!.upstream;
  const call = async (process: number, by = caller): Promise<number> => {
    const response = await relays[process]!.post(PATHS.responses, by.key, aRequest('responses', { model: 'free' }));
    await response.text();
    return response.status;
  };
  const calls = (count: number): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => call(index % 2)));
  const okIn = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;
  const degraded = (): Promise<number[]> => Promise.all(relays.map((relay) => metric(relay, 'rate_limits_degraded')));
  const expectDegraded = async (each: number): Promise<void> => expect(await degraded()).toEqual([each, each]);
  const warnings = (): string[] => warned.filter((message) => /rate limit store/i.test(message));
  /** Each process is asked, so that it notices. */
  const untilAway = (): Promise<void> =>
    eventually(async () => {
      await calls(2);
      await expectDegraded(1);
    });

  it('admit exactly as many requests as the limit, of many more that come at once', async () => {
    caller = await limitedCaller(relays[0]!, { requestsPerMinute: 23 });
    const statuses = await calls(80);
    expect([okIn(statuses), statuses.filter((status) => status === 429).length]).toEqual([23, 57]);
  });

  it('have exactly as many calls running at once as may', async () => {
    caller = await limitedCaller(relays[0]!, { concurrency: 7 });
    const opened: Gate = gate();
    upstream().script([waitFor(opened), responseIn('responses')]);
    const statuses = calls(40);
    await eventually(() => expect(upstream().requests).toHaveLength(7));
    await sleep(200);
    opened.open();
    expect(okIn(await statuses)).toBe(7);
    upstream().reset();
    expect(okIn(await calls(7))).toBe(7);
  });

  it('reveal neither accounts nor kinds of limits in Redis keys', async () => {
    caller = await limitedCaller(relays[0]!, { requestsPerMinute: 5, tokensPerMinute: 5000, concurrency: 5 });
    await calls(2);
    const client = new Redis(redis.url);
    const keys = await client.keys('*');
    client.disconnect();
    expect(keys.length).toBeGreaterThanOrEqual(2);
    for (const key of keys) expect(key).toMatch(/^switchboard:limits:[\w-]{22}$/);
  });

  it('R9: are counted in memory while Redis is gone, with one warning and a metric, and in Redis again when it is back', async () => {
    caller = await limitedCaller(relays[0]!, { requestsPerMinute: 1_000_000, concurrency: 1000 });
    const statuses: number[] = [];
    const outages = await metric(relays[0]!, 'rate_limits_degraded_total');
    const enough = new AbortController();
    const load = Promise.all(
      [0, 1, 0, 1].map(async (process) => {
        while (!enough.signal.aborted) statuses.push(await call(process));
      }),
    );
    const untilMore = async (count: number): Promise<void> => {
      const wanted = statuses.length + count;
      await eventually(() => expect(statuses.length).toBeGreaterThanOrEqual(wanted), 30_000);
    };
    await untilMore(20);
    await redis.stop();
    await eventually(() => expectDegraded(1));
    await untilMore(20);
    // Limits hold meanwhile, in each process for itself.
    const limited = await limitedCaller(relays[0]!, { requestsPerMinute: 2 });
    expect([await call(0, limited), await call(0, limited), await call(0, limited)]).toEqual([200, 200, 429]);
    await redis.resume();
    await eventually(() => expectDegraded(0), 20_000);
    await untilMore(20);
    enough.abort();
    await load;
    expect(okIn(statuses)).toBe(statuses.length);
    expect(warnings()).toHaveLength(2);
    expect(await metric(relays[0]!, 'rate_limits_degraded_total')).toBe(outages + 1);
    caller = await limitedCaller(relays[0]!, { requestsPerMinute: 9 });
    expect(okIn(await calls(30))).toBe(9);
  }, 120_000);

  it('R9: a Redis that is frozen keeps one call waiting for a moment, and none after it', async () => {
    caller = await limitedCaller(relays[0]!, { requestsPerMinute: 1_000_000 });
    expect(okIn(await calls(4))).toBe(4);
    redis.freeze();
    try {
      await untilAway();
      const before = performance.now();
      const count = 40;
      for (let index = 0; index < count; index += 1) expect(await call(0)).toBe(200);
      expect(performance.now() - before).toBeLessThan(count * TIMEOUT_MS);
      // Long enough for the connection to be given up, and others that fare no better.
      await sleep(6000);
      expect(okIn(await calls(4))).toBe(4);
    } finally {
      redis.thaw();
    }
    await eventually(() => expectDegraded(0), 20_000);
    expect(warnings()).toHaveLength(2);
    caller = await limitedCaller(relays[0]!, { requestsPerMinute: 9, concurrency: 9 });
    expect(okIn(await calls(30))).toBe(9);
  }, 60_000);

  it('R9: a Redis that was frozen for a moment gives back what it granted too late', async () => {
    caller = await limitedCaller(relays[0]!, { concurrency: 3 });
    const opened = gate();
    expect(await call(0)).toBe(200);
    redis.freeze();
    try {
      // All of them wait, then run by the count of their own process.
      expect(await Promise.all([call(0), call(0), call(0)])).toEqual([200, 200, 200]);
    } finally {
      redis.thaw();
    }
    await eventually(async () => expect(await metric(relays[0]!, 'rate_limits_degraded')).toBe(0), 20_000);
    upstream().script([waitFor(opened), responseIn('responses')]);
    const statuses = Promise.all([call(0), call(0), call(0)]);
    await eventually(() => expect(upstream().requests.length).toBeGreaterThanOrEqual(4 + 3));
    opened.open();
    expect(okIn(await statuses)).toBe(3);
  }, 60_000);

  it('R9: a Redis that is full is done without', async () => {
    caller = await limitedCaller(relays[0]!, { requestsPerMinute: 1_000_000 });
    const client = new Redis(redis.url);
    try {
      await client.config('SET', 'maxmemory', '1');
      await untilAway();
      expect(okIn(await calls(10))).toBe(10);
      await client.config('SET', 'maxmemory', '0');
      await eventually(() => expectDegraded(0), 20_000);
    } finally {
      client.disconnect();
    }
  }, 60_000);

  it('R9: starts when Redis is not available', async () => {
    const alone = await RelayApp.start({}, { REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      const limited = await limitedCaller(alone, { requestsPerMinute: 1 });
      const statuses = [0, 1].map(async () => {
        const { status } = await alone.post(PATHS.responses, limited.key, aRequest('responses'));
        return status;
      });
      expect((await Promise.all(statuses)).toSorted((one, other) => one - other)).toEqual([200, 429]);
      expect(await metric(alone, 'rate_limits_degraded')).toBe(1);
    } finally {
      await alone.close();
    }
  }, 60_000);
});
