import { jest } from '@jest/globals';
import pg from 'pg';
import { aRequest } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn } from '../support/scripted-upstream.js';

const EXACT = { exact: true, differences: [] };

/** Moves the clock of this process by whole months, and leaves that of the database alone. */
function stepClock(months: number): void {
  const now = Date.now.bind(Date);
  const there = new Date();
  there.setUTCMonth(there.getUTCMonth() + months, 1);
  const stepMs = there.getTime() - now();
  jest.spyOn(Date, 'now').mockImplementation(() => now() + stepMs);
}

describe('a clock that is months away from the partitions of calls', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  const ask = (model = 'm', stream = false): Promise<Response> =>
    relay.post('/v1/messages', caller.key, aRequest('messages', { model, stream }));

  beforeEach(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await relay.close();
  });

  it.each([
    ['9 months ahead', 9],
    ['9 months behind', -9],
  ])('settles calls exactly when it is %s', async (_, months) => {
    stepClock(months);
    relay.upstream.script(responseIn('messages'));
    const responses = await Promise.all([ask(), ask(), ask()]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await relay.calls(caller)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await relay.ledger()).toEqual(EXACT);
  });

  it('records refused calls', async () => {
    stepClock(9);
    expect((await ask('unserved')).ok).toBe(false);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'refused' });
    expect(await relay.ledger()).toEqual(EXACT);
  });

  it('refuses calls before anything is sent while the partition cannot be created', async () => {
    const blocker = new pg.Client({ connectionString: relay.databaseUrl });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE calls IN SHARE UPDATE EXCLUSIVE MODE');
    stepClock(9);
    relay.upstream.script(responseIn('messages'));
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await refused.json()).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('Nothing was sent upstream') },
    });
    expect(relay.upstream.requests).toHaveLength(0);
    await blocker.query('COMMIT');
    await blocker.end();
    expect((await ask()).status).toBe(200);
    expect(await relay.calls(caller)).toMatchObject([{ status: 'refused' }, { status: 'succeeded' }]);
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await relay.ledger()).toEqual(EXACT);
  });
});
