import { DataSource } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Metrics } from '../../src/platform/metrics/index.js';
import { BillingService } from '../../src/relay/billing/index.js';
import { expectError, expectFreeRow, OVERLOADED } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp } from '../support/relay-app.js';
import { responseIn, type ProtocolEndpoint, gate, type Gate, waitFor } from '../support/scripted-upstream.js';

const TOO_MANY = 'The server is overloaded';
/** What is asked of the service beside calls, and answered without a key. */
const NO_CALLS = ['/healthz', '/readyz', '/sign-in'];

describe('a process that has too much to do', () => {
  let relay: RelayApp;
  const start = (environment: Record<string, string>): void => {
    beforeAll(async () => (relay = await RelayApp.start({}, environment)));
    afterAll(() => relay.close());
    afterEach(() => {
      RawClient.closeAll();
      relay.upstream.reset();
    });
  };

  const ask = (protocol: ProtocolEndpoint, key: string, stream = false): Promise<Response> =>
    relay.post(PATHS[protocol], key, aRequest(protocol, { stream }));

  /** A call whose response comes when the gate is opened. */
  async function running(key: string): Promise<{ opened: Gate; answered: Promise<Response> }> {
    const opened = gate();
    relay.upstream.scriptNext([waitFor(opened), responseIn('messages')]);
    const answered = ask('messages', key);
    await relay.upstream.nextRequest();
    return { opened, answered };
  }

  const shed = async (reason: string): Promise<number> => {
    const metric = await relay.get(Metrics).registry.getSingleMetric('switchboard_calls_shed_total')?.get();
    return metric?.values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
  };

  async function expectAllElse(): Promise<void> {
    for (const path of NO_CALLS) expect([path, (await fetch(relay.url + path)).status]).toEqual([path, 200]);
    const { key } = await relay.caller();
    expect((await fetch(`${relay.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
  }

  describe('as many calls as it may answer', () => {
    start({ MAX_CALLS_IN_FLIGHT: '2' });

    it.each(PROTOCOLS)(
      'refuses the next one without reading it, and answers it when one has ended: %s',
      async (protocol) => {
        const { key } = await relay.caller();
        const [one, other] = [await running(key), await running(key)];
        const caller = await relay.caller();
        const before = await shed('calls_in_flight');
        // None of its body ever comes.
        const headers = { 'content-length': '1000000' };
        const unread = await RawClient.post({
          url: relay.url,
          path: PATHS[protocol],
          key: caller.key,
          body: '',
          headers,
        });
        expect((await unread.head).status).toBe(protocol === 'messages' ? 529 : 503);
        unread.close();
        const third = await relay.caller();
        const refused = await ask(protocol, third.key);
        expect(refused.headers.get('retry-after')).toBe('2');
        expect(await expectError(protocol, refused.clone(), OVERLOADED)).toContain(TOO_MANY);
        await expectFreeRow(relay, third, refused, { status: 'refused', error_reason: 'server_is_overloaded' });
        expect(await relay.onlyCall(caller)).toMatchObject({ status: 'refused', attempts: 0 });
        expect(await shed('calls_in_flight')).toBe(before + 2);
        await expectAllElse();
        one.opened.open();
        expect((await one.answered).status).toBe(200);
        await (await one.answered).text();
        await eventually(async () => expect((await ask(protocol, third.key)).status).toBe(200));
        other.opened.open();
        expect((await other.answered).status).toBe(200);
      },
    );

    it('admits exactly N of those that arrive at once', async () => {
      const { key } = await relay.caller();
      const opened = gate();
      relay.upstream.script([waitFor(opened), responseIn('messages')]);
      const requested = Array.from({ length: 20 }, () => ask('messages', key));
      const refused = requested.map(async (response) => (await response).status === 529);
      await eventually(() => expect(relay.upstream.requests).toHaveLength(2));
      // All but those that wait for the upstream.
      let reported = 0;
      for (const response of refused) void response.then((isRefused) => (reported += Number(isRefused)));
      await eventually(() => expect(reported).toBe(18));
      opened.open();
      await Promise.all(requested);
      expect(relay.upstream.requests).toHaveLength(2);
    });

    it('does not count those whose clients have left', async () => {
      const { key } = await relay.caller();
      for (let round = 0; round < 3; round++) {
        const body = aRequest('responses', { stream: true });
        relay.upstream.script([waitFor(gate())]);
        const clients = await Promise.all(
          [1, 2].map(() => RawClient.post({ url: relay.url, path: PATHS.responses, key, body })),
        );
        await relay.upstream.nextRequest();
        await relay.upstream.nextRequest();
        for (const client of clients) client.close();
        relay.upstream.reset();
        await eventually(async () => expect((await ask('responses', key)).status).toBe(200));
        relay.upstream.reset();
      }
    });
  });

  describe('an event loop that is late', () => {
    start({ MAX_EVENT_LOOP_DELAY_MS: '80' });
    let blocking: NodeJS.Timeout | undefined;
    const burden = (): void => void (blocking = setInterval(() => block(150), 5));
    const relieve = (): void => clearInterval(blocking);
    afterEach(relieve);

    it.each(PROTOCOLS)(
      'refuses new calls soon, goes on with its own, and takes others when it is not: %s',
      async (protocol) => {
        const owner = await relay.caller();
        const own = await running(owner.key);
        const caller = await relay.caller();
        burden();
        await eventually(
          async () => expect((await ask(protocol, caller.key)).status).toBe(protocol === 'messages' ? 529 : 503),
          30_000,
        );
        const before = await shed('event_loop_delay');
        const unlucky = await relay.caller();
        const begunMs = performance.now();
        const refused = await ask(protocol, unlucky.key);
        // A few turns of the loop, each as long as it may be; a response takes many more.
        expect(performance.now() - begunMs).toBeLessThan(10_000);
        expect(await expectError(protocol, refused.clone(), OVERLOADED)).toContain(TOO_MANY);
        expect(await shed('event_loop_delay')).toBe(before + 1);
        await expectAllElse();
        own.opened.open();
        expect((await own.answered).status).toBe(200);
        relieve();
        await eventually(async () => expect((await ask(protocol, caller.key)).status).toBe(200), 30_000);
        await expectFreeRow(relay, unlucky, refused, { status: 'refused', error_reason: 'server_is_overloaded' });
      },
      90_000,
    );
  });

  describe('admissions that are late', () => {
    start({ MAX_EVENT_LOOP_DELAY_MS: '300' });

    it('rejects new calls at once, and admits those that wait', async () => {
      const { key, accountId } = await relay.caller();
      const blocked = relay.get(DataSource).createQueryRunner();
      await blocked.startTransaction();
      await blocked.query('SELECT FROM wallets WHERE account_id = $1 FOR UPDATE', [accountId]);
      const first = ask('messages', key);
      // The statement of the first call waits for the wallet; the second call waits for the statement.
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%admit_calls%'`;
      await eventually(async () => expect(await relay.get(DataSource).query(waiting)).toHaveLength(1));
      const second = ask('messages', key);
      await eventually(() => expect(relay.get(BillingService).admissionDelayMs).toBeGreaterThan(300));
      const third = await relay.caller();
      const before = await shed('admission_delay');
      const refused = await ask('messages', third.key);
      expect(refused.status).toBe(529);
      expect(await shed('admission_delay')).toBe(before + 1);
      await expectFreeRow(relay, third, refused, { status: 'refused', error_reason: 'server_is_overloaded' });
      await blocked.commitTransaction();
      await blocked.release();
      expect([(await first).status, (await second).status]).toEqual([200, 200]);
    });
  });

  describe('an event loop that was frozen once', () => {
    start({ MAX_EVENT_LOOP_DELAY_MS: '1000' });

    it('takes calls at once', async () => {
      const { key } = await relay.caller();
      await sleep(600);
      block(3000);
      const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await ask('messages', key)).status));
      expect(statuses).toEqual([200, 200, 200, 200, 200]);
    });
  });
});

/** The same thread asks, answers and is blocked. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
