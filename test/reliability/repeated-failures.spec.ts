import { PROTOCOLS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import type { ProtocolEndpoint } from '../support/scripted-upstream.js';
import { type EntryError, FAULTS } from './faults.js';
import { type Cell, channelOf, MatrixRelay } from './matrix-relay.js';

/** More than it takes until a channel is known to fail. */
const MANY = 20;
const PAUSE_MS = 3000;

const named = (name: string): EntryError => FAULTS.find((fault) => fault.name === name)!;
/** One of each kind of channel: each channel here fails in one way only. */
const LASTING = ['status 500', 'headers that do not come', 'a connection that is refused'].map(named);

describe('R2: a channel that goes on failing', () => {
  let world: MatrixRelay;
  beforeAll(async () => (world = await MatrixRelay.start({ pauseMs: PAUSE_MS })));
  afterAll(() => world.relay.close());

  const cellOf = (fault: EntryError, upstream: ProtocolEndpoint): Cell => ({
    fault,
    upstream,
    client: PROTOCOLS[(PROTOCOLS.indexOf(upstream) + 1) % PROTOCOLS.length]!,
    stream: true,
    isDouble: true,
  });

  /** Who answered, and how many were asked. */
  async function ask(cell: Cell): Promise<string> {
    const { response, caller } = await world.ask(cell);
    expect([response.status, await response.text()]).toEqual([200, expect.stringMatching(/Omega|Alpha/)]);
    const { channel, attempts } = await world.relay.onlyCall(caller);
    return `${String(channel)} after ${String(attempts)}`;
  }

  it.each(LASTING.flatMap((fault) => PROTOCOLS.map((upstream) => [fault.name, upstream, fault] as const)))(
    'R2: is left alone, and calls go straight to the one behind it: %s, %s',
    async (_, upstream, fault) => {
      const cell = cellOf(fault, upstream);
      const second = channelOf(cell, 'second');
      const seen: string[] = [];
      while (seen.at(-1) !== `${second} after 1` && seen.length < MANY) seen.push(await ask(cell));
      expect(seen[0]).toBe(`${second} after 2`);
      expect(seen.at(-1)).toBe(`${second} after 1`);
      // It is asked for long enough to be judged, and no longer.
      expect(seen.length).toBeGreaterThan(3);
    },
    TIMEOUT_MS,
  );

  it.each(PROTOCOLS)(
    'R2: is asked again after a pause, and has the calls again when it is well: %s',
    async (upstream) => {
      const cell = cellOf(named('nothing that is wrong'), upstream);
      await eventually(async () => expect(await ask(cell)).toBe(`${channelOf(cell, 'first')} after 1`), TIMEOUT_MS);
    },
    2 * TIMEOUT_MS,
  );
});
