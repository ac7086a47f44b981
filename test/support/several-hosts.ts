import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, TIMEOUT_MS } from './eventually.js';
import { Load } from './load.js';
import { Nginx, severalHostsLines } from './nginx.js';
import { freePort } from './ports.js';
import { PostgresPair } from './postgres-pair.js';
import { RedisServer } from './redis-server.js';
import { catalogFor } from './relay-app.js';
import type { RecordedRequest } from './scripted-request.js';
import { delay, pacedStream, responseIn, type Script, ScriptedUpstream } from './scripted-upstream.js';
import { Service } from './service.js';

/** Longer than what nginx has read of a request together with its head. */
const PROMPT = 'Tell me more. '.repeat(500);
/** Between the events of a stream, of which there are some ten. */
const GAP_MS = 300;

/** Calls of some three seconds, streamed and not. */
export const paced = ({ protocol = 'chat-completions', json }: RecordedRequest): Script =>
  (json as { stream?: boolean }).stream === true
    ? pacedStream(protocol, { text: ['One ', 'two ', 'three ', 'four '] }, GAP_MS)
    : [delay(10 * GAP_MS), responseIn(protocol)];

/** The set-up of docs/deploy.md, "Several hosts": nginx, two relays, Redis, PostgreSQL with a standby; each a process or more. */
export class SeveralHosts {
  private readonly loads: Load[] = [];
  /** Of the administrator, as the first start prints it. */
  readonly key: string;

  private constructor(
    readonly upstream: ScriptedUpstream,
    readonly redis: RedisServer,
    readonly postgres: PostgresPair,
    readonly relays: Service[],
    readonly nginx: Nginx,
    private readonly environments: readonly Record<string, string>[],
  ) {
    this.key = /sk-\w+/.exec(relays[0]?.output ?? '')?.[0] ?? '';
  }

  static async start(): Promise<SeveralHosts> {
    const [upstream, redis, postgres] = await Promise.all([
      ScriptedUpstream.start(),
      RedisServer.start(),
      PostgresPair.start(),
    ]);
    const environments = [await freePort(), await freePort()].map((port) => ({
      PORT: String(port),
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      SECRET_KEY: 'the same on both hosts'.padEnd(32, '.'),
      TRUSTED_PROXIES: '127.0.0.1',
      DEMO: 'off',
      SHUTDOWN_DELAY_MS: '1000',
      // All hosts share one machine.
      MAX_EVENT_LOOP_DELAY_MS: '60000',
    }));
    const relays: Service[] = [];
    // One after the other: the first makes the administrator.
    for (const environment of environments) relays.push(await Service.start(undefined, environment));
    const nginx = await Nginx.start(
      relays[0]!.address,
      severalHostsLines(relays.map(({ address }) => new URL(address).host)),
    );
    const hosts = new SeveralHosts(upstream, redis, postgres, relays, nginx, environments);
    try {
      await hosts.fill();
    } catch (error) {
      await hosts.close();
      throw error;
    }
    return hosts;
  }

  private async fill(): Promise<void> {
    const catalog = join(this.relays[0]!.dataDir, 'catalog.yaml');
    writeFileSync(catalog, catalogFor(this.upstream.url));
    await this.command('catalog', 'apply', catalog);
    const email = 'admin@switchboard.internal';
    await this.command('account', 'credit', '--email', email, '--amount', '1000', '--reason', 'for many calls');
  }

  /** Clients of the load balancer, until `close` at the latest. */
  load(clients: number): Load {
    const load = new Load(() => this.nginx.url, this.key, clients, PROMPT);
    this.loads.push(load);
    return load;
  }

  /** What `switchboard …` prints on the first host. */
  async command(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.relays[0]!.command(...args);
    expect([args, code, stderr]).toEqual([args, 0, '']);
    return stdout.trim();
  }

  /**
   * Stops a relay as a service manager does and starts its successor, until that has served calls of the load balancer.
   * Returns what its readiness was meanwhile: each status once, in order; 0 when connections were refused.
   */
  async restart(index: number): Promise<readonly number[]> {
    const old = this.relays[index]!;
    const seen = [await readiness(old.address)];
    const stopped = old.stop('SIGTERM');
    for (; seen.at(-1) !== 0; await sleep(20)) {
      const status = await readiness(old.address);
      if (seen.at(-1) !== status) seen.push(status);
    }
    expect(await stopped).toBe(0);
    const successor = await Service.start(old.dataDir, this.environments[index]);
    this.relays[index] = successor;
    await successor.untilPrinted(/"status":"succeeded"/);
    return seen;
  }

  /** No call is open and no money is held, once all processes that died were noticed. */
  async untilSettled(): Promise<void> {
    const rest = `
      SELECT (SELECT count(*)::int FROM open_calls) AS open, sum(held)::text AS held, sum(holds)::int AS holds
        FROM wallets`;
    await eventually(
      async () => expect(await this.postgres.query(rest)).toEqual([{ open: 0, held: '0', holds: 0 }]),
      TIMEOUT_MS,
    );
  }

  /** Every call that a client saw to its end is settled as succeeded, once; and the ledger is exact. */
  async expectExact({ complete }: Load): Promise<void> {
    const calls = await this.postgres.query<{ id: string; status: string }>(
      'SELECT id, status FROM calls WHERE id = ANY($1)',
      [complete],
    );
    const statuses = new Map(calls.map(({ id, status }) => [id, status]));
    expect(complete.filter((id) => statuses.get(id) !== 'succeeded').map((id) => [id, statuses.get(id)])).toEqual([]);
    expect([new Set(complete).size, calls.length]).toEqual([complete.length, complete.length]);
    expect(await this.command('ledger', 'check')).toBe('ledger exact');
  }

  async close(): Promise<void> {
    await Promise.all(this.loads.map((load) => load.stop()));
    await this.nginx.close();
    for (const relay of this.relays) await relay.remove();
    await Promise.all([this.upstream.close(), this.redis.stop(), this.postgres.close()]);
  }
}

/** 0 when connections are refused. */
const readiness = (address: string): Promise<number> =>
  fetch(`${address}/readyz`).then(
    ({ status }) => status,
    () => 0,
  );
