import pg from 'pg';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, type ProtocolEndpoint } from '../support/scripted-upstream.js';

/** What only the end of a response holds. */
const END: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': '[DONE]',
  messages: 'message_stop',
  responses: 'response.completed',
};
const CASES = PROTOCOLS.flatMap((protocol) => [true, false].map((stream) => ({ protocol, stream })));

describe('a response to a client', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let sql: pg.Client;
  beforeAll(async () => {
    relay = await RelayApp.start();
    sql = new pg.Client({ connectionString: relay.databaseUrl });
    await sql.connect();
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(async () => {
    await sql.end();
    await relay.close();
  });
  afterEach(async () => {
    RawClient.closeAll();
    await sql.query('ROLLBACK');
    relay.upstream.reset();
  });

  /** Ids of the caller's calls in one of the two tables. */
  const idsIn = async (table: 'open_calls' | 'calls'): Promise<string[]> => {
    const { rows } = await sql.query<{ id: string }>(`SELECT id FROM ${table} WHERE account_id = $1`, [
      caller.accountId,
    ]);
    return rows.map(({ id }) => id);
  };

  it.each(CASES)(
    'its call is open before the upstream is asked for a response: $protocol, streamed $stream',
    async (row) => {
      const { protocol, stream } = row;
      let open: string[] | undefined;
      relay.upstream.script(async () => {
        open = await idsIn('open_calls');
        return responseIn(protocol);
      });
      const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { stream }));
      await response.text();
      expect(open).toEqual([response.headers.get('x-request-id')]);
    },
  );

  it.each(CASES)('its end is kept back until the call is settled: $protocol, streamed $stream', async (row) => {
    const { protocol, stream } = row;
    relay.upstream.script(async () => {
      await sql.query('BEGIN');
      await sql.query('SELECT FROM wallets WHERE account_id = $1 FOR UPDATE', [caller.accountId]);
      return responseIn(protocol);
    });
    const body = aRequest(protocol, { stream });
    const client = await RawClient.post({ url: relay.url, path: PATHS[protocol], key: caller.key, body });
    await eventually(
      async () => expect((await sql.query(SETTLEMENT_WAITS)).rows).toEqual([{ waits: true }]),
      TIMEOUT_MS,
    );
    if (stream) await eventually(() => expect(client.text).toContain('lo'), TIMEOUT_MS);
    expect(client.text).not.toContain(END[protocol]);
    expect(client.answered).toBe(stream);
    await sql.query('COMMIT');
    expect((await client.complete()).toString()).toContain(stream ? END[protocol] : '"Hello"');
    expect(await idsIn('calls')).toEqual([(await client.head).headers.get('x-request-id')]);
  });
});

/** A settlement has come to a wallet that another transaction has locked. */
const SETTLEMENT_WAITS = `
  SELECT count(*) > 0 AS waits FROM pg_stat_activity
   WHERE datname = current_database() AND application_name LIKE '% settlement' AND wait_event_type = 'Lock'`;
