import { DataSource } from 'typeorm';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  type ProtocolEndpoint,
  gate,
  hang,
  type ScriptedUpstream,
  waitFor,
} from '../support/scripted-upstream.js';

describe('an Idempotency-Key that reaches two processes', () => {
  let relay: RelayApp;
  let other: RelayApp;
  let caller: TestCaller;
  /** Behind both of them: they share a catalog, which the second one has written last. */
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    relay = await RelayApp.start();
    other = await RelayApp.start({}, { DATABASE_URL: relay.databaseUrl });
    ({ upstream } = other);
  });
  afterAll(async () => {
    await other.close();
    await relay.close();
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterEach(() => upstream.reset());

  const post = (to: RelayApp, protocol: ProtocolEndpoint, key = 'one'): Promise<Response> =>
    to.post(PATHS[protocol], caller.key, aRequest(protocol), { 'idempotency-key': key });
  const names = (): Promise<unknown[]> => relay.get(DataSource).query('SELECT call_id FROM named_calls');

  it.each(PROTOCOLS)(
    'makes one call in %s: the other process says that it runs, and when to come again',
    async (protocol) => {
      const rest = gate();
      upstream.script([waitFor(rest), responseIn(protocol)]);
      const first = post(relay, protocol);
      await eventually(() => expect(upstream.requests).toHaveLength(1));
      const second = await post(other, protocol);
      const [running] = await names();
      const reported = ['retry-after', 'x-should-retry'].map((name) => second.headers.get(name));
      expect([second.status, ...reported]).toEqual([409, '1', 'true']);
      expect(await second.text()).toContain((running as { call_id: string }).call_id);
      rest.open();
      expect((await first).status).toBe(200);
      expect(upstream.requests).toHaveLength(1);
      const rows = await eventually(async () => {
        const calls = await relay.calls(caller);
        expect(calls).toHaveLength(2);
        return calls;
      });
      expect(rows.map(({ status, error_reason }) => [status, error_reason])).toEqual(
        expect.arrayContaining([
          ['succeeded', ''],
          ['refused', 'conflict'],
        ]),
      );
    },
  );

  it('is free again for any process when its call has ended, failed or been left', async () => {
    expect((await post(relay, 'messages')).status).toBe(200);
    expect((await post(other, 'messages')).status).toBe(200);
    const left = new AbortController();
    upstream.scriptNext(hang());
    const leaving = fetch(`${relay.url}${PATHS.messages}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'idempotency-key': 'one' },
      body: JSON.stringify(aRequest('messages')),
      signal: left.signal,
    });
    leaving.catch(() => undefined);
    // Otherwise the hanging script would be left for the last call.
    await eventually(() => expect(upstream.requests).toHaveLength(3));
    expect(await names()).toHaveLength(1);
    left.abort();
    await eventually(async () => expect(await names()).toHaveLength(0));
    expect((await post(other, 'messages')).status).toBe(200);
  });

  it('is nothing to another key, and another name is another call', async () => {
    const rest = gate();
    upstream.scriptNext([waitFor(rest), responseIn('messages')]);
    const first = post(relay, 'messages');
    await eventually(async () => expect(await names()).toHaveLength(1));
    expect((await post(other, 'messages', 'two')).status).toBe(200);
    const otherUser = await other.caller();
    const theirs = await other.post(PATHS.messages, otherUser.key, aRequest('messages'), { 'idempotency-key': 'one' });
    expect(theirs.status).toBe(200);
    rest.open();
    expect((await first).status).toBe(200);
  });
});
