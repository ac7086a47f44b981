import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import type { CreatedState, ScopedId } from '../../src/protocols/contract/index.js';
import { AccountDeletion, Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { Clock } from '../../src/platform/shared/index.js';
import {
  StoredResponseLimits,
  StoredResponsesModule,
  StoredResponseSweep,
  UpstreamStates,
} from '../../src/relay/stored-responses/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { HeldClock } from '../support/held-clock.js';
import { startOn } from '../support/modules.js';

const DAY_S = 24 * 60 * 60;
const MAKER = { channelId: 'chn_1', credentialId: 'crd_1' };

class SmallStateLimits extends StoredResponseLimits {
  override readonly maxStatesPerAccount = 3;
}

describe('state that upstreams created', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let states: UpstreamStates;
  let clock: HeldClock;
  let ann: string;
  let bob: string;

  const aFile = (id: string, endsAt?: number): CreatedState => ({ kind: 'file', id, endsAt });
  const named = (id: string, kind: ScopedId['kind'] = 'file'): ScopedId => ({ kind, id, path: 'file_id' });
  const found = async (account: string, ...ids: readonly string[]): Promise<readonly boolean[]> => {
    const makers = await states.originsOf(
      account,
      ids.map((id) => named(id)),
    );
    return makers.map((maker) => maker !== undefined);
  };
  const rows = async (): Promise<number> => (await app.get(DataSource).query('SELECT FROM upstream_states')).length;

  beforeEach(async () => {
    database = await freshDatabase();
    clock = new HeldClock();
    app = await startOn(database, [OnboardingModule, StoredResponsesModule], (builder) =>
      builder
        .overrideProvider(Clock)
        .useValue(clock)
        .overrideProvider(StoredResponseLimits)
        .useValue(new SmallStateLimits()),
    );
    states = app.get(UpstreamStates);
    const accountOf = async (email: string): Promise<string> => (await app.get(Onboarding).createAccount({ email })).id;
    [ann, bob] = [await accountOf('ann@example.com'), await accountOf('bob@example.com')];
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('is found for its account alone, by its kind, with who made it', async () => {
    await states.record(ann, MAKER, [aFile('file_1'), { kind: 'container', id: 'cntr_1' }]);
    expect(await states.originsOf(ann, [named('file_1'), named('file_2')])).toMatchObject([MAKER, undefined]);
    expect(await states.originsOf(ann, [named('cntr_1'), named('cntr_1', 'container')])).toMatchObject([
      undefined,
      MAKER,
    ]);
    expect(await found(bob, 'file_1')).toEqual([false]);
    expect(await found(ann, '', 'file_\0')).toEqual([false, false]);
  });

  it('is kept for 30 days after its last use', async () => {
    await states.record(ann, MAKER, [aFile('file_1'), aFile('file_2')]);
    clock.pass(29 * DAY_S);
    expect(await found(ann, 'file_1')).toEqual([true]);
    clock.pass(2 * DAY_S);
    expect(await found(ann, 'file_1', 'file_2')).toEqual([true, false]);
    await app.get(StoredResponseSweep).sweep();
    expect(await rows()).toBe(1);
  });

  it('is kept no longer than its upstream keeps it, however it is used', async () => {
    const endsAt = clock.now() + 2 * DAY_S * 1000;
    await states.record(ann, MAKER, [aFile('file_1', endsAt)]);
    clock.pass(1.5 * DAY_S);
    expect(await found(ann, 'file_1')).toEqual([true]);
    clock.pass(DAY_S);
    expect(await found(ann, 'file_1')).toEqual([false]);
  });

  it('is kept as long as the latest response says', async () => {
    await states.record(ann, MAKER, [aFile('file_1', clock.now() + 1000)]);
    await states.record(ann, { ...MAKER, channelId: 'chn_2' }, [aFile('file_1', clock.now() + 60_000)]);
    clock.pass(30);
    expect(await states.originsOf(ann, [named('file_1')])).toMatchObject([{ channelId: 'chn_2' }]);
    expect(await rows()).toBe(1);
  });

  it('pushes out what an account has used longest ago', async () => {
    // The number is looked at once in 64 times.
    for (let at = 0; at < 64; at++) {
      clock.pass(1);
      await states.record(ann, MAKER, [aFile(`file_${at}`)]);
    }
    expect(await found(ann, 'file_60', 'file_61', 'file_62', 'file_63')).toEqual([false, true, true, true]);
  });

  it('is recorded by calls that end together, whatever the order of its names', async () => {
    const files = Array.from({ length: 200 }, (_, at) => aFile(`file_${at}`));
    await Promise.all(
      Array.from({ length: 10 }, (_, at) => states.record(ann, MAKER, at % 2 === 0 ? files : files.toReversed())),
    );
    expect(await found(ann, 'file_0', 'file_199')).toEqual([true, true]);
  });

  it('goes with its account, for which none is recorded any more', async () => {
    await states.record(ann, MAKER, [aFile('file_1')]);
    await app.get(AccountDeletion).run(ann);
    await states.record(ann, MAKER, [aFile('file_2')]);
    expect(await rows()).toBe(0);
  });
});
