import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, TIMEOUT_MS } from './eventually.js';
import { Load, unhurried } from './load.js';
import { untilGone } from './processes.js';
import { catalogFor } from './relay-app.js';
import { ScriptedUpstream } from './scripted-upstream.js';
import { Service } from './service.js';

/** Less than a process may be silent: who is gone from this machine need not be waited for. */
const SWEPT_MS = 30_000;
/** Responses that a load must have seen before something is killed, and again before that counts as survived. */
const MANY = 30;

/** Open calls of others than the process that listens. */
const ORPHANS = `
  SELECT o.id FROM open_calls o
   WHERE NOT EXISTS (SELECT FROM processes p WHERE p.id = o.process_id AND p.pid = $1)`;
/** Open calls, if the halted server has no statement running that may settle them. */
const SURELY_OPEN = `
  SELECT id FROM open_calls
   WHERE NOT EXISTS (SELECT FROM pg_stat_activity
                      WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid())`;
const UNSETTLED = 'SELECT id FROM open_calls o WHERE NOT EXISTS (SELECT FROM calls c WHERE c.id = o.id)';
/** Of each call in the usage log; one that was settled twice has two. */
const STATUSES = 'SELECT id, array_agg(status) AS statuses FROM calls GROUP BY id';

/** The program with its own database, clients that never rest, and what must hold of it after anything was killed. */
export class ServiceUnderLoad {
  readonly load: Load;

  private constructor(
    readonly upstream: ScriptedUpstream,
    /** Another one after each `restart`. */
    public service: Service,
  ) {
    this.load = new Load(() => this.service.address, /sk-\w+/.exec(service.output)?.[0] ?? '');
  }

  static async start(): Promise<ServiceUnderLoad> {
    const upstream = await ScriptedUpstream.start();
    upstream.script(unhurried);
    const service = await Service.start();
    const catalog = join(service.dataDir, 'catalog.yaml');
    writeFileSync(catalog, catalogFor(upstream.url));
    const email = 'admin@switchboard.internal';
    const commands = [
      ['catalog', 'apply', catalog],
      ['account', 'credit', '--email', email, '--amount', '1000', '--reason', 'for many calls'],
    ];
    for (const command of commands) expect(await service.command(...command)).toMatchObject({ code: 0 });
    return new ServiceUnderLoad(upstream, service);
  }

  async close(): Promise<void> {
    await this.load.stop();
    await this.service.remove();
    await this.upstream.close();
  }

  untilBusy(): Promise<void> {
    return this.load.untilMore(MANY, TIMEOUT_MS);
  }

  /** After the server was killed. */
  async restart(): Promise<void> {
    this.service = await Service.start(this.service.dataDir);
  }

  /** Kills the server while a call is open. It is halted first, since calls end at any moment. */
  async killDuringCall(): Promise<void> {
    const { relayPid } = this.service;
    await eventually(async () => {
      process.kill(relayPid, 'SIGSTOP');
      const open = await this.query(SURELY_OPEN);
      if (open.length === 0) process.kill(relayPid, 'SIGCONT');
      expect(open).not.toEqual([]);
    }, TIMEOUT_MS);
    kill(relayPid);
  }

  /** Kills the database server and waits until the relay has brought it back. */
  async killDatabase(): Promise<void> {
    const { postgresPid } = this.service;
    kill(postgresPid);
    await untilGone(postgresPid);
    await eventually(() => expect([postgresPid, Number.NaN]).not.toContainEqual(this.service.postgresPid), TIMEOUT_MS);
    await this.load.untilMore(1, TIMEOUT_MS);
  }

  /** The server answers again, nothing that a client saw to its end is missing or there twice, the money is right. */
  async expectRecovery(): Promise<void> {
    await this.untilBusy();
    await this.expectExact();
  }

  /** Every response that a client saw to its end is settled once, and the money is right. */
  async expectExact(): Promise<void> {
    const seen = [...this.load.complete];
    expect(await this.service.command('ledger', 'check')).toMatchObject({ code: 0, stdout: 'ledger exact\n' });
    const rows = await this.query<{ id: string; statuses: string[] }>(STATUSES);
    const statuses = new Map(rows.map((row) => [row.id, row.statuses]));
    const wrong = seen.filter((id) => statuses.get(id)?.join() !== 'succeeded');
    expect(wrong.map((id) => [id, statuses.get(id)])).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
  }

  /** What was on hold for calls of processes that were killed is free again. */
  expectSwept(): Promise<void> {
    return eventually(async () => {
      expect(await this.query(ORPHANS, [this.service.relayPid])).toEqual([]);
      expect(await this.query('SELECT pid FROM processes')).toEqual([{ pid: this.service.relayPid }]);
    }, SWEPT_MS);
  }

  /** Nobody calls any more. */
  expectNothingOpen(): Promise<void> {
    return eventually(async () => expect(await this.query(UNSETTLED)).toEqual([]), SWEPT_MS);
  }

  query<Row>(text: string, values?: unknown[]): Promise<Row[]> {
    return this.service.query(text, values);
  }
}

export const kill = (...pids: number[]): void => pids.forEach((pid) => process.kill(pid, 'SIGKILL'));
