import { connect } from 'node:net';
import { DataSource } from 'typeorm';
import { AccountStatus } from '../../src/auth/index.js';
import { Notifications } from '../../src/platform/database/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { RunState } from '../../src/relay/index.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { NAMED_PAIRS } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import type { TestCaller } from '../support/relay-app.js';
import { type ProtocolEndpoint, endlessStream, hang } from '../support/scripted-upstream.js';
import { withoutNotifications } from '../support/without-notifications.js';

/** A second is promised. Where other tests share the machine, this tells a notification from none. */
const PROMISED_MS = 10_000;

const world = usePairsRelay();
const setStates = {
  'its key is disabled': { change: ({ keyId }: TestCaller) => keys().disable(keyId), says: 'this API key is disabled' },
  'its key is deleted': { change: ({ keyId }: TestCaller) => keys().delete(keyId), says: 'this API key was deleted' },
  'its account is suspended': {
    change: ({ accountId }: TestCaller) => world.relay.get(AccountStatus).disable(accountId),
    says: 'the account of this API key is suspended',
  },
};
const keys = (): ApiKeyService => world.relay.get(ApiKeyService);

/** A stream of this key that has begun; `rest` resolves with everything that comes from then on. */
async function begunStream(caller: TestCaller, client: ProtocolEndpoint, model: string, signal?: AbortSignal) {
  const response = await fetch(world.relay.url + PATHS[client], {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}` },
    body: JSON.stringify(aRequest(client, { model, stream: true })),
    signal: signal ?? null,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let said = ''; !said.includes('again');) said += (await reader.read()).value ?? '';
  return {
    reader,
    rest: async (): Promise<string> => {
      let text = '';
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
      return text;
    },
  };
}

async function expectCharged(caller: TestCaller): Promise<void> {
  const row = await world.relay.onlyCall(caller);
  expect(row).toMatchObject({ status: 'failed', billing_basis: 'partial' });
  expect(Number(row['prompt_tokens'])).toBeGreaterThan(0);
  expect(BigInt(row['cost'] as string)).toBeGreaterThan(0n);
  expect(await world.relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  expect(await world.relay.ledger()).toEqual({ exact: true, differences: [] });
}

describe('F8: a stream that runs', () => {
  it.each(NAMED_PAIRS)('ends within a second when its key is disabled, and no other: %s', async (_, pair) => {
    const { client, upstream, model } = pair;
    const other = await world.relay.caller();
    const leaving = new AbortController();
    world.relay.upstream.script(endlessStream(upstream));
    const stream = await begunStream(world.caller, client, model);
    const goesOn = await begunStream(other, client, model, leaving.signal);
    const startedMs = performance.now();
    await keys().disable(world.caller.keyId);
    const rest = await stream.rest();
    expect(performance.now() - startedMs).toBeLessThan(PROMISED_MS);
    expect(rest).toContain('this API key is disabled');
    await expectCharged(world.caller);
    expect((await goesOn.reader.read()).done).toBe(false);
    leaving.abort();
    expect(await world.relay.onlyCall(other)).toMatchObject({ status: 'cancelled' });
  });

  it.each(Object.entries(setStates))('ends within a second when %s', async (_, { change, says }) => {
    world.relay.upstream.script(endlessStream('messages'));
    const streams = [
      await begunStream(world.caller, 'messages', 'over-messages'),
      await begunStream(world.caller, 'responses', 'over-messages'),
    ];
    const startedMs = performance.now();
    await change(world.caller);
    const rests = await Promise.all(streams.map(({ rest }) => rest()));
    expect(performance.now() - startedMs).toBeLessThan(PROMISED_MS);
    for (const rest of rests) expect(rest).toContain(says);
  });

  it('ends while notifications are away', async () => {
    world.relay.upstream.script(endlessStream('messages'));
    await withoutNotifications(world.relay.get(DataSource), async () => {
      await eventually(() => expect(world.relay.get(Notifications).connected).toBe(false));
      const stream = await begunStream(world.caller, 'messages', 'over-messages');
      await keys().delete(world.caller.keyId);
      expect(await stream.rest()).toContain('this API key was deleted');
    });
    await expectCharged(world.caller);
  });

  it('goes on when its key is only changed', async () => {
    world.relay.upstream.script(endlessStream('messages'));
    const leaving = new AbortController();
    const stream = await begunStream(world.caller, 'messages', 'over-messages', leaving.signal);
    await keys().setLimits(world.caller.keyId, { concurrency: 5 });
    await keys().disable((await world.relay.caller()).keyId);
    const until = performance.now() + 300;
    while (performance.now() < until) expect((await stream.reader.read()).done).toBe(false);
    leaving.abort();
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'cancelled' });
  });
});

describe('F8: a call that is not streamed', () => {
  it.each(PROTOCOLS)('pays for its prompt once that has gone up: %s', async (client) => {
    world.relay.upstream.script([hang()]);
    const body = aRequest(client, { model: `over-${client}` });
    const requested = world.relay.post(PATHS[client], world.caller.key, body);
    await world.relay.upstream.nextRequest();
    await keys().disable(world.caller.keyId);
    const response = await requested;
    expect([response.status, await response.text()]).toEqual([
      401,
      expect.stringContaining('this API key is disabled'),
    ]);
    await expectCharged(world.caller);
  });

  it('is refused while its body is still coming, and costs nothing', async () => {
    const { hostname, port } = new URL(world.relay.url);
    const opening = `POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.caller.key}\r\ncontent-length: 1000\r\n\r\n{`;
    const response = new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(opening));
      socket.once('data', (data) => (resolve(String(data)), socket.destroy())).once('error', reject);
    });
    await eventually(() => expect(world.relay.get(RunState).runningCalls).toBe(1));
    await keys().disable(world.caller.keyId);
    expect(await response).toMatch(/^HTTP\/1.1 401[^]*this API key is disabled/);
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'refused', cost: '0' });
  });
});
