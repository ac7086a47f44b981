import pg from 'pg';
import { SettlementQueue } from '../../src/relay/billing/settlement-queue.js';
import type { CallRow } from '../../src/relay/billing/call-row.js';
import { newId } from '../../src/platform/shared/index.js';
import { finished } from '../support/billing-rows.js';
import { DatabaseOutage } from '../support/database-outage.js';
import { aRequest } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp } from '../support/relay-app.js';
import { responseIn, eventsIn, gate, sse, streamHead, waitFor } from '../support/scripted-upstream.js';

describe('R9: a database that goes and comes back', () => {
  let relay: RelayApp;
  let outage: DatabaseOutage;

  beforeAll(async () => {
    relay = await RelayApp.start();
    outage = await DatabaseOutage.of(relay.databaseUrl);
  });
  afterAll(async () => {
    await relay.close();
    await outage.close();
  });
  afterEach(async () => {
    await outage.end();
    relay.upstream.reset();
  });

  it('refuses calls with 503 while it is gone, and answers by itself when it is back', async () => {
    const caller = await relay.caller();
    relay.upstream.script(responseIn('messages'));
    expect((await relay.post('/v1/messages', caller.key, aRequest('messages'))).status).toBe(200);
    await outage.begin();
    const refused = await relay.post('/v1/messages', caller.key, aRequest('messages'));
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ type: 'error', error: { type: expect.any(String) } });
    expect((await fetch(`${relay.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${relay.url}/healthz`)).status).toBe(200);
    await outage.end();
    await eventually(async () => {
      const answered = await relay.post('/v1/messages', caller.key, aRequest('messages'));
      expect(answered.status).toBe(200);
    }, 10_000);
    await eventually(async () => expect(await relay.ledger()).toEqual({ exact: true, differences: [] }));
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  });

  it('keeps back the end of a running stream until the call is settled', async () => {
    const caller = await relay.caller();
    const events = eventsIn('chat-completions', { text: ['Hello ', 'there'] });
    const gone = gate();
    relay.upstream.script([streamHead(), sse(events.slice(0, 2)), waitFor(gone), sse(events.slice(2))]);
    const response = await relay.post(
      '/v1/chat/completions',
      caller.key,
      aRequest('chat-completions', { stream: true }),
    );
    let text = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array);
    })();
    await eventually(() => expect(text).toContain('Hello '));
    await outage.begin();
    gone.open();
    await eventually(() => expect(text).toContain('there'));
    await new Promise((done) => setTimeout(done, 500));
    expect(text).not.toContain('[DONE]');
    await outage.end();
    await reading;
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(await relay.calls(caller)).toMatchObject([{ status: 'succeeded' }]);
  });

  it('begins no call while 10,000 wait to be settled, and settles every one of them when it is back', async () => {
    const caller = await relay.caller();
    const rowOf = (at: number, status: 'cancelled' | 'refused', opened = false): CallRow => {
      const ids = { id: newId('req', at), created_at: new Date(at).toISOString() };
      const request = { ...ids, account_id: caller.accountId, key_id: caller.keyId };
      return finished(request, 0n, { status, billing_basis: 'free', opened });
    };
    // Admission would answer; only what is finished cannot be written.
    const blocker = new pg.Client({ connectionString: relay.databaseUrl });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE calls');
    const now = Date.now();
    const queue = relay.get(SettlementQueue);
    const waiting = Array.from({ length: 10_000 }, () => queue.settle(rowOf(now, 'cancelled'), 60_000));
    expect(queue.full).toBe(true);
    expect((await fetch(`${relay.url}/readyz`)).status).toBe(503);
    const refused = await relay.post('/v1/messages', caller.key, aRequest('messages'));
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(relay.upstream.requests).toHaveLength(0);
    await expect(queue.settle(rowOf(now, 'refused'), 60_000)).rejects.toThrow('recorded');
    // Its admission was not answered, so there may be a hold to release.
    const mayHold = queue.settle(rowOf(now, 'refused', true), 60_000);
    mayHold.catch(() => undefined);
    await blocker.query('COMMIT');
    await blocker.end();
    await Promise.all([...waiting, mayHold]);
    expect(await relay.calls(caller)).toHaveLength(10_001);
    expect(queue.full).toBe(false);
  }, 90_000);
});
