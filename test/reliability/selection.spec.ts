import { SharedCooldowns } from '../../src/relay/routing/health/shared-cooldowns.js';
import type { HeldClock } from '../support/held-clock.js';
import type { SeededRandom } from '../support/seeded-random.js';
import {
  BAD_REQUEST,
  BROKEN,
  type ChannelSpec,
  RATE_LIMITED,
  REFUSED,
  secretOf,
  useSelection,
} from '../support/selection-world.js';

describe('whom calls ask', () => {
  const world = useSelection();
  const { start, aCall, drawn, attempt, fail, refusal } = world;
  let clock: HeldClock;
  let random: SeededRandom;
  beforeEach(() => {
    ({ clock, random } = world);
  });

  it('R2: within a tier each channel is asked first as often as its weight says, and so are those that are left', async () => {
    await start([
      { name: 'a', weight: 100 },
      { name: 'b', weight: 300 },
      { name: 'c', weight: 600 },
    ]);
    const rounds = 4000;
    const first: Record<string, number> = { a: 0, b: 0, c: 0 };
    const second: Record<string, number> = { a: 0, b: 0, c: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const call = aCall();
      const [one, other] = [await attempt(call, BAD_REQUEST), await attempt(call)];
      first[one!]! += 1 / rounds;
      if (one === 'c') second[other!]! += 1;
    }
    expect(first['a']).toBeCloseTo(0.1, 1.4);
    expect(first['b']).toBeCloseTo(0.3, 1.4);
    expect(first['c']).toBeCloseTo(0.6, 1.4);
    expect(second['b']! / (second['a']! + second['b']!)).toBeCloseTo(0.75, 1.2);
  });

  it('R2: tries tiers in order, within one the client’s protocol first, weight 0 last, and no channel twice in a call', async () => {
    await start([
      { name: 'later', tier: 2, weight: 1000 },
      { name: 'foreign', protocol: 'messages', weight: 1000 },
      { name: 'spare', weight: 0 },
      { name: 'main', weight: 1 },
      { name: 'last', tier: 3 },
    ]);
    for (let round = 0; round < 100; round += 1) {
      const call = aCall();
      const requested: (string | undefined)[] = [];
      for (let turn = 0; turn < 6; turn += 1) requested.push(await attempt(call, BAD_REQUEST));
      expect(requested).toEqual(['main', 'spare', 'foreign', 'later', 'last', undefined]);
    }
  });

  it('R2: a conversation stays with its channel and credential, yields while they rest, and returns', async () => {
    await start([
      { name: 'a', credentials: ['a1', 'a2', 'a3'] },
      { name: 'b', credentials: ['b1', 'b2'] },
      { name: 'later', tier: 2 },
    ]);
    for (let affinity = 0; affinity < 40; affinity += 1) {
      const home = (await drawn(aCall({ affinity })))!;
      for (let turn = 0; turn < 5; turn += 1)
        expect(secretOf((await drawn(aCall({ affinity })))!)).toBe(secretOf(home));
      await fail(home, RATE_LIMITED(10));
      const other = (await drawn(aCall({ affinity })))!;
      // Another account of the same channel is nearer than another channel.
      expect([other.channel.name, secretOf(other) === secretOf(home)]).toEqual([home.channel.name, false]);
      expect(secretOf((await drawn(aCall({ affinity })))!)).toBe(secretOf(other));
      clock.pass(10);
      expect(secretOf((await drawn(aCall({ affinity })))!)).toBe(secretOf(home));
    }
  });

  it('a full channel is passed over, and has room again when a call of it ends', async () => {
    await start([
      { name: 'small', concurrency: 2 },
      { name: 'later', tier: 2, concurrency: 1 },
    ]);
    const running = [await drawn(aCall()), await drawn(aCall()), await drawn(aCall())];
    expect(running.map((one) => one?.channel.name)).toEqual(['small', 'small', 'later']);
    expect(refusal()).toMatchObject({ kind: 'server_is_overloaded', details: { retryAfterSeconds: 1 } });
    running[0]!.release();
    running[0]!.release();
    expect([await attempt(aCall()), (await drawn(aCall()))?.channel.name, await drawn(aCall())]).toEqual([
      'small',
      'small',
      undefined,
    ]);
  });

  it('R2: over thousands of calls with random errors never tries a channel in cooldown, one already tried, or one out of order', async () => {
    const described: ChannelSpec[] = [
      { name: 'a', tier: 1, weight: 100, credentials: ['a1', 'a2', 'a3'] },
      { name: 'b', tier: 1, weight: 300, credentials: ['b1'] },
      { name: 'c', tier: 2, weight: 10, credentials: ['c1', 'c2'] },
      { name: 'd', tier: 2, weight: 0, credentials: ['d1'] },
      { name: 'e', tier: 3, credentials: ['e1'] },
    ];
    // The breaker has tests of its own; here each rest is foretold.
    await start(described, { minOutcomes: Infinity });
    const units = described.flatMap(({ name, tier, credentials }) =>
      credentials!.map((secret) => ({ name, tier: tier!, secret })),
    );
    const cooldownEndMs = new Map<string, number>();
    const counts = { drawn: 0, none: 0, rested: 0 };
    for (let round = 0; round < 3000; round += 1) {
      // The database has a clock of its own, for which no time passes here.
      await world.program.get(SharedCooldowns).written();
      clock.pass(random.next() * 3);
      const call = aCall(random.next() < 0.5 ? { affinity: Math.floor(random.next() * 1000) } : {});
      const usedChannels = new Set<string>();
      const usedUnits = new Set<string>();
      for (;;) {
        const usable = units.filter(
          ({ name, secret }) =>
            !usedChannels.has(name) && !usedUnits.has(secret) && (cooldownEndMs.get(secret) ?? 0) <= clock.now(),
        );
        const assignment = await drawn(call);
        if (assignment === undefined) {
          expect(usable).toEqual([]);
          counts.none += 1;
          break;
        }
        counts.drawn += 1;
        const unit = usable.find(({ secret }) => secret === secretOf(assignment));
        expect(unit?.tier).toBe(Math.min(...usable.map(({ tier }) => tier)));
        const fate = random.next();
        const seconds = Math.floor(random.next() * 20) + 1;
        if (fate < 0.3) await fail(assignment, RATE_LIMITED(seconds));
        else if (fate < 0.305) await fail(assignment, REFUSED);
        else if (fate < 0.6) await fail(assignment, BROKEN);
        else assignment.succeeded();
        assignment.release();
        if (fate < 0.305) {
          usedUnits.add(unit!.secret);
          cooldownEndMs.set(unit!.secret, clock.now() + (fate < 0.3 ? seconds : 300) * 1000);
          counts.rested += 1;
        } else usedChannels.add(unit!.name);
        if (fate >= 0.6) break;
      }
    }
    expect(counts.drawn).toBeGreaterThan(3000);
    expect(counts.none).toBeGreaterThan(50);
    expect(counts.rested).toBeGreaterThan(500);
  }, 120_000);
});
