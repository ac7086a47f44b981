import { DataSource } from 'typeorm';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { PAIRS } from '../support/pairs.js';
import { expectCell, isPossible } from './cell-expectations.js';
import { FAULTS, type EntryError } from './faults.js';
import { type Cell, MatrixRelay } from './matrix-relay.js';

const WAYS: readonly (readonly [string, boolean, boolean])[] = [
  ['streamed', true, false],
  ['whole', false, false],
  ['streamed, with another channel behind it', true, true],
  ['whole, with another channel behind it', false, true],
];

/** Runs each row for all pairs of client and upstream protocols at once. */
const ROWS = FAULTS.flatMap((fault) =>
  WAYS.map(([way, stream, isDouble]) => [fault.name, way, cellsOf(fault, stream, isDouble)] as const),
).filter(([, , cells]) => cells.length > 0);

function cellsOf(fault: EntryError, stream: boolean, isDouble: boolean): Cell[] {
  return PAIRS.map(({ client, upstream }) => ({ client, upstream, stream, isDouble, fault })).filter(isPossible);
}

/** What keeps this process from ending. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('R1: one response or one error, and never two, whatever the upstream does', () => {
  let world: MatrixRelay;
  let timersBefore: number;
  beforeAll(async () => {
    timersBefore = timers();
    world = await MatrixRelay.start();
  });
  afterAll(() => world.relay.close());

  it.each(ROWS)(
    '%s (%s)',
    async (_, __, cells) => {
      const endings = await Promise.allSettled(cells.map((cell) => expectCell(world, cell)));
      const wrong = endings.flatMap((ending, index) => {
        const { client, upstream } = cells[index]!;
        return ending.status === 'fulfilled' ? [] : [`${client} over ${upstream}: ${String(ending.reason)}`];
      });
      if (wrong.length > 0) throw new Error(wrong.join('\n\n'));
    },
    TIMEOUT_MS,
  );

  it('charges what upstreams would bill, or waives it by rule, and keeps the ledger exact', async () => {
    const [sums] = await world.relay
      .get(DataSource)
      .query<{ cost: string; open: number; calls: number; held: string }[]>(
        `SELECT sum(cost)::text AS cost, count(*)::int AS calls, (SELECT count(*)::int FROM open_calls) AS open,
                (SELECT sum(held)::text FROM wallets) AS held FROM calls`,
      );
    expect(sums).toMatchObject({ open: 0, held: '0', calls: ROWS.reduce((sum, [, , { length }]) => sum + length, 0) });
    expect(BigInt(sums!.cost)).toBeGreaterThanOrEqual(world.due.least);
    expect(BigInt(sums!.cost)).toBeLessThanOrEqual(world.due.most);
    expect(await world.relay.ledger()).toEqual({ exact: true, differences: [] });
  });

  it('no connection to an upstream is left when the relay has closed, and no timer', async () => {
    await world.relay.stop();
    await eventually(async () => expect(await world.relay.upstream.connections()).toBe(0));
    await eventually(() => expect(timers()).toBeLessThanOrEqual(timersBefore));
  });
});
