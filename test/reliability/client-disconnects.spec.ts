import { PAIRS, type Pair } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { type ProtocolEndpoint, pacedStream, type RecordedRequest } from '../support/scripted-upstream.js';

/** Of each pair, as many streamed as whole. */
const CALLS_OF_PAIR = 8;
/** As long as a response takes; it is left at any moment of that. */
const LASTS_MS = 400;
const PIECES = 20;
/** Half of them at least: of the rest a machine that is busy with other things may be late. */
const ABORT_MS = 100;

/** Evenly spread over the response, and the same in every run. */
const momentOf = (index: number): number => ((index * 0.618_033_988_75) % 1) * LASTS_MS;

interface DisconnectCase extends Pair {
  readonly afterMs: number;
  readonly stream: boolean;
  readonly mark: string;
}

const LEAVINGS: readonly DisconnectCase[] = PAIRS.flatMap((pair, number) =>
  Array.from({ length: CALLS_OF_PAIR }, (_, index) => {
    const mark = `mark-${number * CALLS_OF_PAIR + index}.`;
    return { ...pair, afterMs: momentOf(number * CALLS_OF_PAIR + index), stream: index % 2 === 0, mark };
  }),
);

describe('R4: clients that leave at any moment', () => {
  const world = usePairsRelay();

  /** Calls and leaves. @returns when it left; undefined when the response was there before */
  async function leave({ client, model, stream, afterMs, mark }: DisconnectCase): Promise<number | undefined> {
    const leaving = new AbortController();
    let leftAt: number | undefined;
    setTimeout(() => {
      leftAt = performance.now();
      leaving.abort();
    }, afterMs);
    const body = withMark(aRequest(client, { model, stream }), mark);
    return fetch(`${world.relay.url}${PATHS[client]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.caller.key}` },
      body: JSON.stringify(body),
      signal: leaving.signal,
    })
      .then((response) => response.text())
      .then(
        () => undefined,
        () => leftAt,
      );
  }

  it(
    'R4: have their upstreams left within 100 ms, streamed or not, in every pair of protocols',
    async () => {
      const { upstream } = world.relay;
      upstream.script(({ protocol = 'messages' }) =>
        pacedStream(protocol, { text: Array.from({ length: PIECES }, () => 'again ') }, LASTS_MS / PIECES),
      );
      const lateMs: number[] = [];
      const leaveInTurn = async (protocol: ProtocolEndpoint): Promise<void> => {
        for (const leaving of LEAVINGS.filter(({ client }) => client === protocol)) {
          const leftAt = await leave(leaving);
          const request = upstream.requests.find(({ body }) => body.includes(leaving.mark));
          // One that left early enough was never told of upstream.
          if (request !== undefined) lateMs.push(await latenessOf(request, leftAt));
        }
      };
      await Promise.all(PROTOCOLS.map(leaveInTurn));
      expect(lateMs.length).toBeGreaterThan(LEAVINGS.length / 4);
      expect(lateMs.toSorted((one, other) => one - other)[Math.floor(lateMs.length / 2)]).toBeLessThan(ABORT_MS);
      await expectRows();
    },
    TIMEOUT_MS,
  );

  /** How long the upstream was not left yet. */
  async function latenessOf(request: RecordedRequest, leftAt = Infinity): Promise<number> {
    expect(await request.closed).toBe('left');
    return (request.closedAt ?? Infinity) - leftAt;
  }

  /** Each call that came to an upstream has its row, which says that its client has gone; none is left open. */
  async function expectRows(): Promise<void> {
    const ids = await eventually(async () => {
      const rows = await world.relay.calls(world.caller);
      expect(rows.length).toBeGreaterThanOrEqual(world.relay.upstream.requests.length);
      expect(await world.relay.wallet(world.caller)).toMatchObject({ held: '0', holds: 0 });
      expect(new Set(rows.map(({ status, error_reason: reason }) => `${status}: ${String(reason)}`))).toEqual(
        new Set(['cancelled: context canceled']),
      );
      return rows.map(({ id }) => id);
    }, TIMEOUT_MS);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await world.relay.ledger()).toEqual({ exact: true, differences: [] });
  }
});

/** So that the upstream knows whose request it has. */
const withMark = (body: Readonly<Record<string, unknown>>, mark: string): object =>
  'input' in body ? { ...body, input: mark } : { ...body, messages: [{ role: 'user', content: mark }] };
