import { jest } from '@jest/globals';
import pg from 'pg';
import { DatabaseOutage } from '../support/database-outage.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { responseIn, gate, type JsonObject, waitFor } from '../support/scripted-upstream.js';
import { LONG_MS, useStoppingService } from '../support/stopping-service.js';

// Each test starts a process and sees it end, by gates and not by the clock: a busy machine takes its time.
jest.setTimeout(3 * TIMEOUT_MS);

describe('R8: a process that is stopped', () => {
  const world = useStoppingService();
  const { start, exited, endGrace, untilCutOff, post, stream, inHalves, expectCutOff, expectExact } = world;

  it('does not send upstream what is admitted only when the grace is over, and keeps nothing on hold', async () => {
    await start('1');
    await withLock(async (release) => {
      const response = post('responses');
      await eventually(async () => expect(await waitingForLock()).toBe(1));
      world.service.wrapper.kill('SIGTERM');
      await untilCutOff();
      await release();
      // On a machine that takes two seconds to get here, the admission has been given up: refused all the same.
      expect((await response).status).toBe(503);
    });
    expect(await exited()).toBe(0);
    expect(world.relay.upstream.requests).toHaveLength(0);
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({ billing_basis: 'free', attempts: 0 });
    await expectExact();
  });

  it('tells the client of a response that cannot be recorded in time, and records it all the same', async () => {
    await start('1');
    const finish = gate();
    world.relay.upstream.script(inHalves(() => finish));
    const received = await stream('messages');
    await received.begun;
    await withLock(async (release) => {
      finish.open();
      await eventually(async () => expect(await waitingForLock()).toBe(1));
      world.service.wrapper.kill('SIGTERM');
      const text = await received.text;
      expect(text).toContain('could not be recorded');
      expect(text).not.toContain('message_stop');
      await release();
    });
    expect(await exited()).toBe(0);
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'succeeded', billing_basis: 'reported' });
    await expectExact();
  });

  it('charges nothing for an unstreamed response that failed because it could not be recorded', async () => {
    await start(LONG_MS);
    const finish = gate();
    world.relay.upstream.script([waitFor(finish), responseIn('messages')]);
    const response = post('messages');
    await eventually(() => expect(world.relay.upstream.requests).toHaveLength(1), TIMEOUT_MS);
    const outage = await DatabaseOutage.of(world.relay.databaseUrl);
    await outage.begin();
    try {
      finish.open();
      expect(await world.relay.upstream.requests[0]?.closed).toBe('finished');
      world.service.wrapper.kill('SIGTERM');
      // A second later at the earliest: the response has come by then, and waits for its settlement.
      await endGrace();
      const reported = await response;
      expect(reported.headers.get('x-should-retry')).toBe('false');
      expect(await reported.text()).toContain('could not be recorded');
    } finally {
      await outage.end();
      await outage.close();
    }
    expect(await exited()).toBe(0);
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({
      status: 'failed',
      billing_basis: 'free',
      cost: '0',
    });
    await expectExact();
  });

  it('says what it could not settle, and ends with 1, when its database is gone', async () => {
    await start('1');
    world.relay.upstream.script(inHalves(() => new Promise(() => undefined)));
    const received = await stream('messages');
    await received.begun;
    const name = databaseName();
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    try {
      world.service.wrapper.kill('SIGTERM');
      await expectCutOff(received);
      expect(await exited()).toBe(1);
    } finally {
      await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    }
    const lost = world.service.output.split('\n').find((line) => line.includes('Failed to settle a call'));
    expect(JSON.parse(lost ?? '{}')).toMatchObject({
      request_id: received.id,
      status: 'failed',
      billing_basis: 'partial',
    });
  });

  const databaseName = (): string => new URL(world.relay.databaseUrl).pathname.slice(1);

  /** Keeps the wallet's row locked while the work goes on, or until it says so. */
  async function withLock(work: (release: () => Promise<unknown>) => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: world.relay.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM wallets WHERE account_id = $1 FOR UPDATE', [world.caller.accountId]);
      await work(() => client.query('ROLLBACK'));
    } finally {
      await client.end();
    }
  }

  async function waitingForLock(): Promise<number> {
    const [row] = await onServer(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '${databaseName()}'`,
    );
    return row?.['waiting'] as number;
  }

  async function onServer(sql: string): Promise<JsonObject[]> {
    const url = new URL(world.relay.databaseUrl);
    url.pathname = '/postgres';
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      return (await client.query<JsonObject>(sql)).rows;
    } finally {
      await client.end();
    }
  }
});
