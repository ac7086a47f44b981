import { setTimeout as sleep } from 'node:timers/promises';
import { aRequest, PATHS } from '../support/protocols.js';
import { NAMED_PAIRS } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  type ProtocolEndpoint,
  eventsAround,
  eventsIn,
  hang,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';

/** The promise is 100 ms; what passes between the client's socket and the relay on a busy machine is not the relay's. */
const ABORT_MS = 1000;
/** So long an upstream that has said something is let alone. */
const HEARD_MS = 300;
const SAID = 'Hello there, how are you? ';

const world = usePairsRelay();
const FOREIGN_PAIRS = NAMED_PAIRS.filter(([, { client, upstream }]) => client !== upstream);

describe.each([true, false])(
  'R4: a client that leaves a translated response, streamed: %s (cases 94 and 103)',
  (stream) => {
    const said = (upstream: ProtocolEndpoint): Script => {
      const { before } = eventsAround(
        eventsIn(upstream, { text: [SAID, SAID, 'Fine.'], usage: { prompt: 5000, completion: 900 } }),
        'Fine.',
      );
      return [streamHead(), sse(before), hang()];
    };

    async function leave(client: ProtocolEndpoint, model: string, script: Script): Promise<void> {
      world.relay.upstream.script(script);
      const leaving = new AbortController();
      const response = fetch(world.relay.url + PATHS[client], {
        method: 'POST',
        headers: { authorization: `Bearer ${world.caller.key}` },
        body: JSON.stringify(aRequest(client, { model, stream })),
        signal: leaving.signal,
      });
      response.catch(() => undefined);
      const { closed } = await world.relay.upstream.nextRequest();
      await sleep(HEARD_MS);
      const leftAt = performance.now();
      leaving.abort();
      expect(await closed).toBe('left');
      expect(performance.now() - leftAt).toBeLessThan(ABORT_MS);
    }

    it.each(FOREIGN_PAIRS)('pays for what the upstream has written, which is left at once: %s', async (_, pair) => {
      const { client, upstream, model } = pair;
      await leave(client, model, said(upstream));
      const row = await world.relay.onlyCall(world.caller);
      expect(row).toMatchObject({ status: 'cancelled', billing_basis: 'partial' });
      // At least 1 token for 8 characters, and at most 1 for 2.
      expect(Number(row['completion_tokens'])).toBeGreaterThan((2 * SAID.length) / 8);
      expect(Number(row['completion_tokens'])).toBeLessThan(SAID.length);
      // Messages says in front what it has read.
      if (upstream === 'messages') expect(row).toMatchObject({ prompt_tokens: '5000' });
      expect(await world.relay.wallet(world.caller)).toMatchObject({ held: '0', holds: 0 });
    });
  },
);
