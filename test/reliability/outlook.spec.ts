import { ChannelDirectory } from '../../src/catalog/channels/index.js';
import {
  ChannelSelection,
  type ModelOutlook,
  type SelectionQuery,
} from '../../src/relay/routing/selection/call-selection.js';
import { SeededRandom } from '../support/seeded-random.js';
import { BAD_REQUEST, BROKEN, type ChannelSpec, RATE_LIMITED, useSelection } from '../support/selection-world.js';

const ROUNDS = 2000;

describe('the routing dry run', () => {
  const world = useSelection();
  const { start, aCall, drawn, attempt, refusal } = world;

  const outlook = (wanted: Partial<SelectionQuery> = {}): ModelOutlook =>
    world.program.get(ChannelSelection).outlook({
      group: 'default',
      model: 'm',
      protocol: 'responses',
      affinity: undefined,
      accountId: 'acc_1',
      ...wanted,
    });
  const reported = (wanted?: Partial<SelectionQuery>): readonly (readonly [string, number])[] =>
    outlook(wanted).prospects.map(({ channel: { name }, firstShare }) => [name, firstShare]);

  it.each<[string, readonly ChannelSpec[]]>([
    ['one channel', [{ name: 'a' }]],
    [
      'weights',
      [
        { name: 'a', weight: 100 },
        { name: 'b', weight: 300 },
      ],
    ],
    [
      'tiers, protocols and spares',
      [
        { name: 'later', tier: 2, weight: 1000 },
        { name: 'foreign', protocol: 'messages', weight: 1000 },
        { name: 'spare', weight: 0 },
        { name: 'main', weight: 3 },
        { name: 'other', weight: 1 },
      ],
    ],
    [
      'only spares',
      [
        { name: 'a', weight: 0 },
        { name: 'b', weight: 0 },
      ],
    ],
    ['nobody of the client’s protocol', [{ name: 'foreign', protocol: 'messages', credentials: ['f1', 'f2'] }]],
  ])('is what calls then do: %s', async (_, channels) => {
    await start(channels);
    const shares = new Map(reported());
    const first = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = (await attempt(aCall()))!;
      first.set(name, (first.get(name) ?? 0) + 1 / ROUNDS);
    }
    expect([...shares.keys()].toSorted()).toEqual(channels.map(({ name }) => name).toSorted());
    for (const [name, share] of shares) expect(first.get(name) ?? 0).toBeCloseTo(share, 1.2);
    // What is sure of the order is the order in which one call asks them.
    const certain = [...shares.keys()].filter((name) => shares.get(name) === 0);
    const call = aCall();
    const requested: string[] = [];
    for (const _each of channels) requested.push((await attempt(call, BAD_REQUEST))!);
    expect(requested.filter((name) => certain.includes(name))).toEqual(certain);
  });

  it('makes no request, consumes no randomness and counts nothing', async () => {
    await start([{ name: 'a', concurrency: 1 }, { name: 'b' }]);
    const before = reported();
    for (let round = 0; round < 20; round += 1) expect(reported()).toEqual(before);
    expect(world.random.next()).toBe(new SeededRandom(7).next());
    expect(await attempt(aCall())).toBeDefined();
  });

  it('tells why the others are not asked', async () => {
    await start([
      { name: 'full', concurrency: 1 },
      { name: 'tired', credentials: ['t1', 't2'], tier: 2 },
      { name: 'well', tier: 3 },
    ]);
    const running = await drawn(aCall());
    expect(running!.channel.name).toBe('full');
    for (const _each of ['t1', 't2']) await attempt(aCall(), RATE_LIMITED(40));
    const { prospects, unavailable } = outlook();
    expect(prospects.map(({ channel: { name }, firstShare }) => [name, firstShare])).toEqual([['well', 1]]);
    expect(unavailable.map(({ channel: { name }, isFull, cooldowns }) => [name, isFull, cooldowns.length])).toEqual([
      ['full', true, 0],
      ['tired', false, 2],
    ]);
    expect(await attempt(aCall())).toBe('well');
    running!.release();
  });

  it('reports that the next call tries a channel whose cooldown has expired', async () => {
    await start([{ name: 'a' }], { minOutcomes: 1 });
    await attempt(aCall(), BROKEN);
    expect(outlook().prospects).toEqual([]);
    expect(outlook().shortage?.message).toBe(refusal().message);
    world.clock.pass(60);
    expect(outlook().prospects.map(({ cooldown }) => cooldown?.reason)).toEqual(['failures']);
    const tried = await drawn(aCall());
    expect(tried!.isProbe).toBe(true);
    tried!.release();
  });

  it('names the channels that serve the model, but not such a call', async () => {
    await start([{ name: 'a', protocol: 'messages' }]);
    const directory = world.program.get(ChannelDirectory);
    expect(outlook({ group: 'nobodys' }).excluded).toEqual([
      expect.objectContaining({ exclusion: { why: 'other-groups', groups: ['default'] } }),
    ]);
    directory.speaks(new Set(['responses']));
    expect(outlook().excluded.map(({ exclusion }) => exclusion.why)).toEqual(['unavailable']);
    expect(outlook({ model: 'unknown' }).excluded).toEqual([]);
  });
});
