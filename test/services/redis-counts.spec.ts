import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RateLimit, Decision, ConcurrencySlot, Acquisition } from '../../src/platform/limits/counts.js';
import type { RedisCounts } from '../../src/platform/limits/redis-counts.js';
import { eventually } from '../support/eventually.js';
import { redisCounts } from '../support/redis-counts.js';
import { RedisServer } from '../support/redis-server.js';

const PLACING_PROCESS = resolve(import.meta.dirname, '../support/placing-process.mjs');
/** Longer than a test. */
const WINDOW_MS = 10 * 3_600_000;
const SHORT_MS = 1000;
/** Of a process that is not heard of. */
const LEASE_MS = 1500;

const count = (key: string, limit: number, amount = 1, windowMs = WINDOW_MS): RateLimit => {
  return { key, windowMs, limit, amount };
};
let acquisitions = 0;
const acquisition = (counts: readonly RateLimit[], slots: readonly ConcurrencySlot[] = []): Acquisition => ({
  id: `acquisition ${(acquisitions += 1)}`,
  counts,
  slots,
});
const isGranted = ({ refusal }: Decision): boolean => refusal === undefined;

describe('RedisCounts', () => {
  let server: RedisServer;
  let client: Redis;
  let processes: RedisCounts[];
  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.url, { retryStrategy: () => 50 });
    client.on('error', () => undefined);
    processes = [0, 1].map(() => redisCounts(server.url, { leaseMs: LEASE_MS, renewMs: 200 }));
    await Promise.all(processes.map((counts) => counts.open()));
  });
  afterEach(() => client.flushall());
  afterAll(async () => {
    client.disconnect();
    await Promise.all(processes.map((counts) => counts.close()));
    await server.stop();
  });
  const acquire = (requested: Acquisition, process = 0): Promise<Decision> => processes[process]!.acquire(requested);
  const back = ({ id, slots }: Acquisition): void =>
    processes[0]!.release({ id, slots: slots.map(({ key }) => key), corrections: [] });

  it('grants exactly the limit to several processes that ask at once', async () => {
    const requested = Array.from({ length: 500 }, (_, index) =>
      acquire(acquisition([count('requests', 123)]), index % 2),
    );
    expect((await Promise.all(requested)).filter(isGranted)).toHaveLength(123);
  });

  it('has exactly as many running at once as there are slots', async () => {
    const all = Array.from({ length: 300 }, () => acquisition([], [{ key: 'running', limit: 17 }]));
    const decisions = await Promise.all(all.map((requested, index) => acquire(requested, index % 2)));
    expect(decisions.filter(isGranted)).toHaveLength(17);
    const running = all.filter((_, index) => isGranted(decisions[index]!));
    running.slice(0, 5).forEach(back);
    const again = await Promise.all(all.map(({ slots }) => acquire(acquisition([], slots))));
    expect(again.filter(isGranted)).toHaveLength(5);
  });

  it('takes nothing when one of several refuses, and names the one that keeps it waiting for longest', async () => {
    const requested = (): Acquisition =>
      // Slots of the test before are renewed, even after its data is gone.
      acquisition([count('requests', 10), count('tokens', 100, 60)], [{ key: 'others', limit: 5 }]);
    expect(await acquire(requested())).toMatchObject({ refusal: undefined, statuses: [{ used: 1 }, { used: 60 }] });
    const refused = await acquire(requested());
    expect(refused.refusal?.which).toBe(1);
    expect(refused.statuses.map(({ used }) => used)).toEqual([1, 60]);
    expect(await client.zcard('test:others')).toBe(1);
    const never = await acquire(acquisition([count('tokens', 100, 101), count('requests', 1)]));
    expect(never.refusal).toEqual({ which: 0, waitMs: undefined });
  });

  it('says when there will be room again, by the server’s clock', async () => {
    const one = (): Acquisition => acquisition([count('fading', 4, 1, SHORT_MS)]);
    const refusedAfter = async (): Promise<number> => {
      for (;;) {
        const { refusal } = await acquire(one());
        if (refusal !== undefined) return refusal.waitMs ?? Number.NaN;
      }
    };
    const waitMs = await refusedAfter();
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(2 * SHORT_MS);
    await sleep(waitMs + 1);
    expect(isGranted(await acquire(one()))).toBe(true);
  });

  it('corrects what was taken, where it was taken', async () => {
    const requested = acquisition([count('tokens', 1000, 400)]);
    const { statuses } = await acquire(requested);
    const correct = (amount: number, window = statuses[0]!.window): void =>
      processes[0]!.release({
        id: requested.id,
        slots: [],
        corrections: [{ key: 'tokens', windowMs: WINDOW_MS, window, amount }],
      });
    const used = async (): Promise<number> =>
      (await acquire(acquisition([count('tokens', 1000, 0)]))).statuses[0]!.used;
    correct(-350);
    expect(await used()).toBe(50);
    correct(1000);
    expect(await used()).toBe(1050);
    // Of a window that is long past there is nothing left to acquire back from.
    correct(-1000, statuses[0]!.window - 5);
    expect(await used()).toBe(1050);
  });

  it('has the slots of a killed process back when its leases have run out, and not before', async () => {
    const slots = Array.from({ length: 3 }, () => ({ key: 'lent', limit: 3 }));
    const timings = { leaseMs: LEASE_MS, renewMs: 200 };
    const child = fork(
      PLACING_PROCESS,
      [server.url, timings, slots].map((argument) => JSON.stringify(argument)),
    );
    try {
      const [granted] = await once(child, 'message');
      expect(granted).toBe(3);
      // It lives, and renews them.
      await sleep(2 * LEASE_MS);
      expect(isGranted(await acquire(acquisition([], [slots[0]!])))).toBe(false);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await eventually(async () => {
      const decisions = await Promise.all(slots.map((place) => acquire(acquisition([], [place]))));
      if (!decisions.every(isGranted)) throw new Error('They are still taken.');
    }, 4 * LEASE_MS);
  });

  it('tells a server that has forgotten everything what runs', async () => {
    const running = acquisition([], [{ key: 'kept', limit: 1 }]);
    await acquire(running);
    await client.flushall();
    await client.script('FLUSH');
    await eventually(async () => expect(await client.zcard('test:kept')).toBe(1));
    expect(isGranted(await acquire(acquisition([], running.slots)))).toBe(false);
    back(running);
  });

  it('leaves nothing there for ever', async () => {
    await acquire(acquisition([count('requests', 5), count('tokens', 50, 5)], [{ key: 'running', limit: 5 }]));
    const keys = await client.keys('*');
    // Beside what earlier tests still hold and renew.
    expect(keys).toEqual(expect.arrayContaining(['test:requests', 'test:tokens', 'test:running']));
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
  });
});
