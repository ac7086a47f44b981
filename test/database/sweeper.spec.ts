import { spawnSync } from 'node:child_process';
import { processIdentity } from '../../src/platform/database/index.js';
import { eventually } from '../support/eventually.js';
import { finished, SweepBench, type TestProcess } from '../support/sweep-bench.js';

const EXACT = { exact: true, differences: [] };
const UNTOUCHED = { balance: 1_000_000_000n, held: 0n, holds: 0, owed: 0n };
/** The number of a process that has just ended. */
const goneNumber = (): number => spawnSync('true').pid;

describe('the sweeper', () => {
  let bench: SweepBench;
  beforeEach(async () => {
    bench = await SweepBench.start();
  });
  afterEach(() => bench.stop());

  /** One that waits as long for a process that is silent as one that is in service does: too long for any test. */
  const patient = (): Promise<TestProcess> => bench.process();
  /** One to which everybody is dead who was not heard of today, as soon as it has been connected for a moment. */
  const hasty = (): Promise<TestProcess> => bench.process({ heartbeatMs: 50, deadAfterMs: 500 });
  const sweepUntil = (process: TestProcess, expectation: () => Promise<void>): Promise<void> =>
    eventually(async () => {
      await process.sweep();
      await expectation();
    });
  const untilClosed = (process: TestProcess): Promise<void> =>
    sweepUntil(process, async () => expect(await bench.openIds()).toEqual([]));

  it('closes the calls of a process that ran here and is gone: interrupted, free, with nothing on hold', async () => {
    const sweeper = await patient();
    const dead = await bench.list({ ...sweeper.self, id: 'prs_dead', pid: goneNumber(), silent: false });
    const call = await bench.open(dead);
    await sweeper.sweep();
    expect(await bench.query('SELECT * FROM calls')).toEqual([
      expect.objectContaining({
        id: call.id,
        created_at: new Date(call.created_at),
        account_id: call.account_id,
        key_id: call.key_id,
        model: 'm',
        group_name: 'default',
        protocol: 'responses',
        upstream_protocol: '',
        channel: '',
        stream: true,
        effort: 'low',
        status: 'interrupted',
        error_reason: 'internal',
        error_message: 'The process that served this call exited before the call ended.',
        prompt_tokens: null,
        completion_tokens: null,
        cost: '0',
        uncollected: '0',
        billing_basis: 'free',
        attempts: 0,
        ip: '192.0.2.1',
        snapshot: { free: false },
      }),
    ]);
    expect(await bench.openIds()).toEqual([]);
    expect(await bench.wallet()).toEqual(UNTOUCHED);
    expect(await bench.ledger()).toEqual(EXACT);
    expect(await bench.listed()).toEqual([sweeper.self.id]);
  });

  it('considers a process gone when its PID belongs to another program', async () => {
    const sweeper = await patient();
    const { host, pid } = sweeper.self;
    await bench.open(await bench.list({ host, pid, identity: 'of an earlier one', silent: false }));
    await sweeper.sweep();
    expect(await bench.openIds()).toEqual([]);
  });

  it('leaves a process alone that runs here, also while it has lost its lock', async () => {
    const sweeper = await patient();
    const { host } = sweeper.self;
    const identity = processIdentity(process.ppid) ?? '';
    const call = await bench.open(await bench.list({ host, pid: process.ppid, identity, silent: false }));
    await sweeper.sweep();
    expect(await bench.openIds()).toEqual([call.id]);
  });

  it('never judges by a number from another machine, or by one that is not known well enough', async () => {
    const sweeper = await patient();
    const pid = goneNumber();
    await bench.open(await bench.list({ host: 'elsewhere', pid, silent: false }));
    await bench.open(await bench.list({ host: sweeper.self.host, pid, identity: '', silent: false }));
    await sweeper.sweep();
    expect(await bench.openIds()).toHaveLength(2);
  });

  it('closes the calls of a process elsewhere when its lock is free and it has been silent for too long', async () => {
    const sweeper = await hasty();
    const [silent, received] = [await bench.list({ silent: true }), await bench.list({ silent: false })];
    const calls = [await bench.open(silent), await bench.open(received)];
    await sweepUntil(sweeper, async () => expect(await bench.openIds()).toEqual([calls[1]!.id]));
    expect(await bench.listed()).toEqual([received, sweeper.self.id].toSorted());
  });

  it('never closes the calls of a process whose lock is held, even if it seems dead otherwise', async () => {
    const sweeper = await hasty();
    const living = await bench.list({ ...sweeper.self, id: 'prs_living', pid: goneNumber(), silent: true });
    await bench.lock(living);
    const [call] = [await bench.open(living), await bench.open(await bench.list())];
    await sweepUntil(sweeper, async () => expect(await bench.openIds()).toEqual([call.id]));
  });

  it('restarts the waiting time after its own connection was interrupted', async () => {
    const sweeper = await bench.process({ deadAfterMs: 3000, heartbeatMs: 200 });
    const silent = await bench.list();
    await eventually(() => expect(sweeper.presence.steadyMs).toBeGreaterThan(3000));
    const steadyMs = sweeper.presence.steadyMs;
    await bench.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND application_name LIKE '% presence'`);
    await eventually(() => expect(sweeper.presence.steadyMs).toBeLessThan(steadyMs));
    const call = await bench.open(silent);
    await eventually(() => expect(sweeper.presence.steadyMs).toBeGreaterThan(0));
    await sweeper.sweep();
    // Had this machine stood still meanwhile, the time would rightly be over.
    if (sweeper.presence.steadyMs < 3000) expect(await bench.openIds()).toEqual([call.id]);
    await eventually(() => expect(sweeper.presence.steadyMs).toBeGreaterThan(3000));
    await sweeper.sweep();
    expect(await bench.openIds()).toEqual([]);
  });

  it('closes the calls of a process that is not listed after the same waiting time', async () => {
    const sweeper = await hasty();
    const call = await bench.open('prs_unheard_of');
    await sweeper.sweep();
    expect(await bench.listed()).toContain('prs_unheard_of');
    expect(await bench.openIds()).toEqual([call.id]);
    await untilClosed(sweeper);
    expect(await bench.listed()).toEqual([sweeper.self.id]);
  });

  it('does nothing while another one is at it', async () => {
    const [one, other] = [await patient(), await patient()];
    await bench.open(await bench.list({ ...one.self, id: 'prs_dead', pid: goneNumber() }));
    await one.presence.exclusively(async () => {
      await other.sweep();
      expect(await bench.openIds()).toHaveLength(1);
    });
    await other.sweep();
    expect(await bench.openIds()).toEqual([]);
  });

  it('closes each of many calls once, however many sweep', async () => {
    const sweepers = [await patient(), await patient()];
    const dead = await bench.list({ ...sweepers[0]!.self, id: 'prs_dead', pid: goneNumber() });
    const calls = await bench.openMany(dead, 600);
    await eventually(async () => {
      await Promise.all(sweepers.map((sweeper) => sweeper.sweep()));
      expect(await bench.openIds()).toEqual([]);
    });
    const rows = await bench.query<{ id: string }>('SELECT id FROM calls');
    expect(rows.map(({ id }) => id).toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
    expect(await bench.wallet()).toEqual(UNTOUCHED);
    expect(await bench.ledger()).toEqual(EXACT);
  });

  it('never takes the place of a settlement: each call is charged once, whichever of the two came first', async () => {
    const sweepers = [await patient(), await patient()];
    const dead = await bench.list({ ...sweepers[0]!.self, id: 'prs_dead', pid: goneNumber() });
    const calls = await bench.openMany(dead, 300);
    const settling = (async () => {
      for (let first = 0; first < calls.length; first += 4)
        await sweepers[0]!.billing.settle(calls.slice(first, first + 4).map((call) => finished(call, 1000n)));
    })();
    const sweeping = (async () => {
      for (let time = 0; time < 5; time += 1) await Promise.all(sweepers.map((sweeper) => sweeper.sweep()));
    })();
    await Promise.all([settling, sweeping]);
    await sweepers[1]!.sweep();
    expect(await bench.query('SELECT status, cost, count(*)::int FROM calls GROUP BY 1, 2')).toEqual([
      { status: 'succeeded', cost: '1000', count: 300 },
    ]);
    expect(await bench.openIds()).toEqual([]);
    expect(await bench.wallet()).toEqual({ ...UNTOUCHED, balance: 1_000_000_000n - 300_000n });
    expect(await bench.ledger()).toEqual(EXACT);
  });

  it('releases a hold that came about after its call had been settled, though its process lives', async () => {
    const sweeper = await patient();
    const ago = new Date(Date.now() - 120_000);
    const late = bench.asking(sweeper.self.id, { created_at: ago.toISOString() });
    await sweeper.billing.settle([finished(late, 0n)]);
    await sweeper.billing.admit([late]);
    const running = await bench.open(sweeper.self.id, { created_at: ago.toISOString() });
    await sweeper.sweep();
    expect(await bench.openIds()).toEqual([running.id]);
    expect(await bench.wallet()).toMatchObject({ held: 10_000_000n, holds: 1 });
    expect(await bench.ledger()).toEqual(EXACT);
  });

  it('closes what it can when a call cannot be closed, and says once what is wrong', async () => {
    const sweeper = await patient();
    const complaints: unknown[] = [];
    sweeper.modules.useLogger({
      log: () => undefined,
      warn: () => undefined,
      error: (message: unknown) => complaints.push(message),
    });
    const dead = await bench.list({ ...sweeper.self, id: 'prs_dead', pid: goneNumber() });
    await bench.openMany(dead, 5);
    const { id } = await bench.open(dead);
    await bench.query(`ALTER TABLE calls ADD CONSTRAINT call_is_refused CHECK (id <> '${id}')`);
    await sweeper.sweep();
    await sweeper.sweep();
    expect(await bench.openIds()).toEqual([id]);
    expect(await bench.listed()).toContain(dead);
    expect(complaints).toEqual([
      { err: expect.objectContaining({ message: expect.stringMatching('call_is_refused') }) },
    ]);
    expect(await bench.ledger()).toEqual(EXACT);
  });

  it('works by itself, first at its start, survives a loss of its database, and stops for good', async () => {
    const sweeper = await bench.process({ heartbeatMs: 50, sweepEveryMs: 50 });
    // Listed last: the sweeper at work takes a dead process without calls off the list at once.
    const leave = async (): Promise<void> => {
      await bench.open('prs_dead');
      await bench.list({ ...sweeper.self, id: 'prs_dead', pid: goneNumber() });
    };
    const untilSwept = (): Promise<void> => eventually(async () => expect(await bench.openIds()).toEqual([]));
    await leave();
    await sweeper.sweeper.start();
    await untilSwept();
    await bench.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await eventually(leave);
    await untilSwept();
    await sweeper.sweeper.stop();
    await leave();
    await new Promise((done) => setTimeout(done, 200));
    expect(await bench.openIds()).toHaveLength(1);
  });
});

describe('a process that admits calls', () => {
  let bench: SweepBench;
  beforeEach(async () => {
    bench = await SweepBench.start();
  });
  afterEach(() => bench.stop());

  const heartbeats = (): Promise<{ id: string; heartbeat_at: Date }[]> =>
    bench.query('SELECT id, heartbeat_at FROM processes');

  it('stands on the list with signs of life that go on, and comes back when its row is lost', async () => {
    const { self } = await bench.process({ heartbeatMs: 20 });
    const [first] = await bench.query<{ id: string; heartbeat_at: Date }>('SELECT * FROM processes');
    expect(first).toMatchObject({
      id: self.id,
      host: self.host,
      pid: process.pid,
      identity: processIdentity(process.pid),
    });
    await eventually(async () =>
      expect((await heartbeats())[0]!.heartbeat_at.getTime()).toBeGreaterThan(first!.heartbeat_at.getTime()),
    );
    await bench.query('DELETE FROM processes');
    await eventually(async () => expect(await bench.listed()).toEqual([self.id]));
  });

  it('takes its lock again when its connection was cut, so that its calls are not closed', async () => {
    const [one, other] = [await bench.process(), await bench.process({ heartbeatMs: 50, deadAfterMs: 500 })];
    const call = await bench.open(one.self.id);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name LIKE '% presence'`;
    const [{ before } = { before: new Date() }] = await bench.query<{ before: Date }>('SELECT now() AS before');
    await bench.query(cut);
    await eventually(async () => {
      for (const { heartbeat_at } of await heartbeats())
        expect(heartbeat_at.getTime()).toBeGreaterThan(before.getTime());
      expect(await bench.listed()).toHaveLength(2);
    });
    await eventually(() => expect(other.presence.steadyMs).toBeGreaterThan(500));
    // As if it had been silent for long: only the lock is left to speak for it.
    await bench.query(`UPDATE processes SET host = 'elsewhere', heartbeat_at = now() - interval '1 day'`);
    await other.sweep();
    expect(await bench.openIds()).toEqual([call.id]);
  });

  it('takes itself off the list when it stops in order, but for calls that it could not settle', async () => {
    const [stays, leaves, leavesCall] = [await bench.process(), await bench.process(), await bench.process()];
    const open = await bench.open(leavesCall.self.id);
    await Promise.all([leaves.close(), leavesCall.close()]);
    expect(await bench.listed()).toEqual([stays.self.id, leavesCall.self.id].toSorted());
    await leavesCall.close();
    await stays.billing.settle([finished(open, 1n)]);
    expect(await bench.openIds()).toEqual([]);
  });
});
