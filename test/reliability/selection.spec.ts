import type { TestingModule } from '@nestjs/testing';
import { classifyUpstream } from '../../src/call/index.js';
import { CatalogService } from '../../src/catalog/index.js';
import {
  type Assignment,
  CatalogImport,
  ChannelSelection,
  ChannelsModule,
  type CallSelection,
  HealthLimits,
  NoChannel,
  Random,
  type Wanted,
} from '../../src/channels/index.js';
import { credentialSubjectOf } from '../../src/channels/health/subjects.js';
import { SharedRests } from '../../src/channels/health/shared-rests.js';
import { AppError, Clock } from '../../src/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { HeldClock } from '../support/held-clock.js';
import { startOn } from '../support/modules.js';
import { SeededRandom } from '../support/seeded-random.js';

const USUAL_AUTH = new Map([
  ['responses', 'bearer'],
  ['messages', 'x-api-key'],
] as const);

interface Described {
  readonly name: string;
  readonly tier?: number;
  readonly weight?: number;
  readonly protocol?: string;
  readonly credentials?: readonly string[];
  readonly concurrency?: number;
}

const catalogOf = (channels: readonly Described[]): string => `
models:
  - { name: m, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
channels:
${channels
  .map(
    ({ name, tier = 1, weight = 100, protocol = 'responses', credentials = [`secret-of-${name}`], concurrency }) =>
      `  - { name: ${name}, protocol: ${protocol}, base_url: "http://127.0.0.1:9/${name}", credentials: ${JSON.stringify(credentials)}, tier: ${tier}, weight: ${weight}, models: { m: m }${concurrency === undefined ? '' : `, max_concurrency: ${concurrency}`} }`,
  )
  .join('\n')}
`;

const RATE_LIMITED = (retryAfterSeconds: number): AppError =>
  new AppError('rate_limit_exceeded', 'Slow down.', { failover: true, upstreamStatus: 429, retryAfterSeconds });
const REFUSED = new AppError('upstream_auth', 'Who are you?', { failover: true, upstreamStatus: 401 });
const BROKEN = new AppError('upstream_error', 'It failed.', { failover: true, upstreamStatus: 500 });
const BAD_REQUEST = new AppError('invalid_request', 'What?', { upstreamStatus: 400 });

describe('whom calls ask', () => {
  let database: TestDatabase;
  let program: TestingModule;
  let clock: HeldClock;
  let random: SeededRandom;

  /** With `limits`, channels of their own. */
  async function start(channels: readonly Described[], limits: Partial<HealthLimits> = {}): Promise<void> {
    program = await startOn(database, [ChannelsModule], (builder) =>
      builder
        .overrideProvider(Clock)
        .useValue(clock)
        .overrideProvider(Random)
        .useValue(random)
        .overrideProvider(HealthLimits)
        .useValue({ ...new HealthLimits(), ...limits }),
    );
    program.useLogger(false);
    const protocols = USUAL_AUTH;
    await program.get(CatalogImport).apply(catalogOf(channels), { fileName: 'test.yaml', prune: true, protocols });
    await program.get(CatalogService).reload();
  }

  beforeEach(async () => {
    database = await freshDatabase();
    clock = new HeldClock();
    random = new SeededRandom(7);
  });
  afterEach(async () => {
    await program.close();
    await database.drop();
  });

  const aCall = (wanted: Partial<Wanted> = {}): CallSelection =>
    program
      .get(ChannelSelection)
      .for({ group: 'default', model: 'm', protocol: 'responses', affinity: undefined, ...wanted });
  /** Undefined: there is nobody. */
  const drawn = async (call: CallSelection): Promise<Assignment | undefined> => {
    try {
      return await call.next();
    } catch (error) {
      if (error instanceof NoChannel) return undefined;
      throw error;
    }
  };
  /** One attempt of a call, and what comes of it; gives the name of the channel. */
  const attempt = async (call: CallSelection, outcome?: AppError): Promise<string | undefined> => {
    const assignment = await drawn(call);
    if (outcome === undefined) assignment?.succeeded();
    else assignment?.failed(outcome);
    assignment?.release();
    return assignment?.channel.name;
  };
  const refusal = (): NoChannel => {
    try {
      void aCall().next();
    } catch (error) {
      if (error instanceof NoChannel) return error;
    }
    throw new Error('There is somebody to ask.');
  };
  const secretOf = ({ credential }: Assignment): string | undefined => credential?.secret.reveal();

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

  it('R2: tiers are asked in order, within one the client’s dialect first, weight 0 last, and nobody twice in a call', async () => {
    await start([
      { name: 'later', tier: 2, weight: 1000 },
      { name: 'foreign', protocol: 'messages', weight: 1000 },
      { name: 'spare', weight: 0 },
      { name: 'main', weight: 1 },
      { name: 'last', tier: 3 },
    ]);
    for (let round = 0; round < 100; round += 1) {
      const call = aCall();
      const asked: (string | undefined)[] = [];
      for (let turn = 0; turn < 6; turn += 1) asked.push(await attempt(call, BAD_REQUEST));
      expect(asked).toEqual(['main', 'spare', 'foreign', 'later', 'last', undefined]);
    }
  });

  it('R2: a credential at its rate limit rests for just as long as it was told, and the channel with it when it is the last', async () => {
    await start([{ name: 'a', credentials: ['one', 'two'] }]);
    const call = aCall();
    const one = (await drawn(call))!;
    one.failed(RATE_LIMITED(7));
    const other = (await drawn(call))!;
    expect(new Set([secretOf(one), secretOf(other)])).toEqual(new Set(['one', 'two']));
    other.failed(RATE_LIMITED(70));
    expect(await drawn(call)).toBeUndefined();
    expect(refusal()).toMatchObject({ kind: 'rate_limit_exceeded', details: { retryAfterSeconds: 7 } });
    clock.pass(6.999);
    expect(refusal()).toMatchObject({ kind: 'rate_limit_exceeded', details: { retryAfterSeconds: 1 } });
    clock.pass(0.001);
    for (let round = 0; round < 20; round += 1) expect(secretOf((await drawn(aCall()))!)).toBe(secretOf(one));
    clock.pass(62.999);
    for (let round = 0; round < 20; round += 1) expect(secretOf((await drawn(aCall()))!)).toBe(secretOf(one));
    clock.pass(0.001);
    const again = new Set<string | undefined>();
    for (let round = 0; round < 50; round += 1) again.add(secretOf((await drawn(aCall()))!));
    expect(again.size).toBe(2);
  });

  it('R2: a credential that was refused rests for five minutes, then one call tries', async () => {
    await start([{ name: 'a' }]);
    await attempt(aCall(), REFUSED);
    expect(refusal()).toMatchObject({ kind: 'upstream_auth' });
    clock.pass(299.999);
    expect(await drawn(aCall())).toBeUndefined();
    clock.pass(0.001);
    const tries = await Promise.all(Array.from({ length: 20 }, () => drawn(aCall())));
    const [probe, ...others] = tries.filter((one) => one !== undefined);
    expect(others).toEqual([]);
    expect(probe?.isProbe).toBe(true);

    // Refused again: five more minutes.
    probe!.failed(REFUSED);
    probe!.release();
    clock.pass(299.999);
    expect(await drawn(aCall())).toBeUndefined();
    clock.pass(0.001);
    const second = (await drawn(aCall()))!;
    expect(await drawn(aCall())).toBeUndefined();
    second.answered();
    expect(await attempt(aCall())).toBe('a');
    expect((await drawn(aCall()))?.isProbe).toBe(false);
  });

  it('R2: a call that was to try and was left lets the next one try', async () => {
    await start([{ name: 'a' }]);
    await attempt(aCall(), REFUSED);
    clock.pass(300);
    const probe = (await drawn(aCall()))!;
    expect(await drawn(aCall())).toBeUndefined();
    probe.release();
    expect((await drawn(aCall()))?.isProbe).toBe(true);
  });

  it('R2: what was healed while its call claimed something else does not rest again', async () => {
    await start([{ name: 'a' }], { leastOutcomes: 1 });
    const [refused, broken] = [await aCall().next(), await aCall().next()];
    refused.failed(REFUSED);
    refused.release();
    broken.failed(BROKEN);
    broken.release();
    clock.pass(300);
    const rests = program.get(SharedRests);
    const subject = credentialSubjectOf(refused.channel, refused.credential);
    const tries = aCall().next();
    rests.end(rests.find(subject)!);
    (await tries).release();
    expect(rests.find(subject)).toBeUndefined();
  });

  it('R2: an answer that comes after another call has tried and failed changes nothing of the new rest', async () => {
    await start([{ name: 'a' }], { leastOutcomes: 1, probeMs: 1 });
    await attempt(aCall(), BROKEN);
    clock.pass(5);
    const slow = await aCall().next();
    await eventually(async () => {
      clock.pass(1);
      expect(await attempt(aCall(), BROKEN)).toBe('a');
    });
    slow.succeeded();
    slow.release();
    expect(refusal().kind).toBe('server_is_overloaded');
  });

  it('R2: a channel that fails half of its calls is left alone, longer each time, until one call gets an answer', async () => {
    await start([{ name: 'a' }]);
    for (const outcome of [undefined, undefined, BROKEN, BROKEN]) expect(await attempt(aCall(), outcome)).toBe('a');
    // What is not the upstream's fault is not counted.
    for (let count = 0; count < 9; count += 1) expect(await attempt(aCall(), BAD_REQUEST)).toBe('a');
    expect(await attempt(aCall(), BROKEN)).toBe('a');
    for (const seconds of [5, 10, 20, 40, 60, 60]) {
      expect(refusal()).toMatchObject({ kind: 'server_is_overloaded', details: { retryAfterSeconds: seconds } });
      clock.pass(seconds - 0.001);
      expect(await drawn(aCall())).toBeUndefined();
      clock.pass(0.001);
      const tries = await Promise.all(Array.from({ length: 10 }, () => drawn(aCall())));
      const probes = tries.filter((one) => one !== undefined);
      expect(probes).toHaveLength(1);
      probes[0]!.failed(BROKEN);
      probes[0]!.release();
    }
    clock.pass(60);
    const probe = (await drawn(aCall()))!;
    probe.answered();
    // Open to all, and it begins anew: four failures are too few again.
    for (let count = 0; count < 4; count += 1) expect(await attempt(aCall(), BROKEN)).toBe('a');
    expect(await attempt(aCall())).toBe('a');
    // But an answer that breaks off is what the others would get as well.
    probe.failed(BROKEN);
    expect(await attempt(aCall())).toBeUndefined();
  });

  it('R2: a channel that does not know one model is not left alone, as others may be had there', async () => {
    await start([{ name: 'a' }]);
    const unknown = classifyUpstream(404, {}, { error: { message: 'No such model.', code: 'model_not_found' } });
    expect(unknown.details.failover).toBe(true);
    for (let count = 0; count < 10; count += 1) expect(await attempt(aCall(), unknown)).toBe('a');
    expect(await attempt(aCall())).toBe('a');
  });

  it('R2: what had begun before a channel was healed does not count against it', async () => {
    await start([{ name: 'a' }]);
    const before = await Promise.all(Array.from({ length: 20 }, () => drawn(aCall())));
    for (const assignment of before.slice(0, 5)) assignment!.failed(BROKEN);
    clock.pass(5);
    await attempt(aCall());
    for (const assignment of before.slice(5)) assignment!.failed(BROKEN);
    expect(await attempt(aCall())).toBe('a');
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
      home.failed(RATE_LIMITED(10));
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

  it('a call that finds out whether it is the one that tries takes no place that another has taken meanwhile', async () => {
    await start([{ name: 'a', credentials: ['refused', 'good'], concurrency: 1 }]);
    let refused = await aCall().next();
    while (secretOf(refused) !== 'refused') {
      refused.release();
      refused = await aCall().next();
    }
    refused.failed(REFUSED);
    refused.release();
    clock.pass(300);
    let tries = aCall().next();
    while (!(tries instanceof Promise)) {
      tries.release();
      tries = aCall().next();
    }
    const other = await aCall().next();
    expect(secretOf(other)).toBe('good');
    await expect(tries).rejects.toThrow(NoChannel);
    other.release();
    await program.get(SharedRests).written();
    expect(await attempt(aCall())).toBe('a');
  });

  it('R2: over thousands of calls with faults at random nobody is asked who rests, was asked, or has somebody before them', async () => {
    const described: Described[] = [
      { name: 'a', tier: 1, weight: 100, credentials: ['a1', 'a2', 'a3'] },
      { name: 'b', tier: 1, weight: 300, credentials: ['b1'] },
      { name: 'c', tier: 2, weight: 10, credentials: ['c1', 'c2'] },
      { name: 'd', tier: 2, weight: 0, credentials: ['d1'] },
      { name: 'e', tier: 3, credentials: ['e1'] },
    ];
    // The breaker has tests of its own; here each rest is foretold.
    await start(described, { leastOutcomes: Infinity });
    const units = described.flatMap(({ name, tier, credentials }) =>
      credentials!.map((secret) => ({ name, tier: tier!, secret })),
    );
    const restsUntilMs = new Map<string, number>();
    const counts = { drawn: 0, none: 0, rested: 0 };
    for (let round = 0; round < 3000; round += 1) {
      // The database has a clock of its own, for which no time passes here.
      await program.get(SharedRests).written();
      clock.pass(random.next() * 3);
      const call = aCall(random.next() < 0.5 ? { affinity: Math.floor(random.next() * 1000) } : {});
      const askedChannels = new Set<string>();
      const askedUnits = new Set<string>();
      for (;;) {
        const usable = units.filter(
          ({ name, secret }) =>
            !askedChannels.has(name) && !askedUnits.has(secret) && (restsUntilMs.get(secret) ?? 0) <= clock.now(),
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
        if (fate < 0.3) assignment.failed(RATE_LIMITED(seconds));
        else if (fate < 0.305) assignment.failed(REFUSED);
        else if (fate < 0.6) assignment.failed(BROKEN);
        else assignment.succeeded();
        assignment.release();
        if (fate < 0.305) {
          askedUnits.add(unit!.secret);
          restsUntilMs.set(unit!.secret, clock.now() + (fate < 0.3 ? seconds : 300) * 1000);
          counts.rested += 1;
        } else askedChannels.add(unit!.name);
        if (fate >= 0.6) break;
      }
    }
    expect(counts.drawn).toBeGreaterThan(3000);
    expect(counts.none).toBeGreaterThan(50);
    expect(counts.rested).toBeGreaterThan(500);
  }, 120_000);
});
