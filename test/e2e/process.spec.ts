import { jest } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

/** What a pasted `curl` line does. */
async function paste(
  line: string,
  body: (body: Record<string, unknown>) => object = (same) => same,
): Promise<Response> {
  const headers = [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']): [string, string] => [
    name,
    value,
  ]);
  const url = /curl -N (\S+)/.exec(line)?.[1] ?? '';
  const sent = JSON.parse(/-d '([^']+)'/.exec(line)?.[1] ?? '') as Record<string, unknown>;
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body(sent)) });
}

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const pidIn = (dataDir: string): number => Number(readFileSync(join(dataDir, 'relay.pid'), 'utf8'));
const postgresIn = (dataDir: string): number => {
  const { pid } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { pid: number };
  return pid;
};

/** How long real processes may take on a busy machine. */
const PATIENCE_MS = 60_000;
jest.setTimeout(3 * PATIENCE_MS);

describe('the program, started as a person starts it', () => {
  let service: Service;
  beforeAll(async () => (service = await Service.start()), 120_000);
  afterAll(() => service.remove(), 60_000);

  it('prints on its first run what a first call needs, and the three lines answer, streamed and not', async () => {
    expect(service.output).toMatch(/Administrator +\S+@\S+\n +Password +\S{12,}/);
    const lines = service.output.split('\n').filter((line) => line.startsWith('curl '));
    expect(lines).toHaveLength(3);
    const ids: (string | null)[] = [];
    for (const line of lines)
      for (const stream of [true, false]) {
        const response = await paste(line, (body) => ({ ...body, stream }));
        expect(response.status).toBe(200);
        expect(await response.text()).toMatch(stream ? /^(?:event|data): / : /^\{/);
        ids.push(response.headers.get('x-request-id'));
      }
    const { stdout, code } = await service.command('usage', 'export', '--from', '2020-01-01', '--to', '2100-01-01');
    expect(code).toBe(0);
    const [head = '', ...rows] = stdout.trim().split('\n');
    const columns = head.split(',');
    const calls = rows.map((row) => Object.fromEntries(row.split(',').map((cell, index) => [columns[index], cell])));
    expect(calls.map((call) => call['request_id'])).toEqual(ids);
    for (const call of calls) {
      expect(call).toMatchObject({ status: 'succeeded', billing_basis: 'reported', model: 'demo' });
      expect(Number(call['cost_usd'])).toBeGreaterThan(0);
      expect(call['first_token_ms'] === '').toBe(call['stream'] === 'false');
    }
    expect(await service.command('ledger', 'check')).toMatchObject({ code: 0, stdout: 'ledger exact\n' });
  });

  it('ends in order on SIGTERM, database and all, and prints no secret when it is started again', async () => {
    const [relay, postgres] = [pidIn(service.dataDir), postgresIn(service.dataDir)];
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(alive(relay)).toBe(false);
    await eventually(() => expect(alive(postgres)).toBe(false), PATIENCE_MS);
    expect(existsSync(join(service.dataDir, 'relay.pid'))).toBe(false);
    service = await Service.start(service.dataDir);
    expect(service.output).not.toMatch(/sk-|Password/);
    expect((await fetch(`${service.address}/readyz`)).status).toBe(200);
  });

  it('cuts off what still runs when the grace is over, and settles it', async () => {
    await service.stop();
    service = await Service.start(service.dataDir, { SHUTDOWN_GRACE_MS: '200' });
    const { stdout: key } = await service.command(
      'key',
      'create',
      '--email',
      'admin@switchboard.internal',
      '--name',
      'k',
    );
    const response = await fetch(`${service.address}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.trim()}` },
      body: JSON.stringify({ model: 'demo', stream: true, input: 'Hello' }),
    });
    expect(await service.stop()).toBe(0);
    expect(await response.text()).toMatch(/event: response\.failed\ndata: [^\n]+\n\ndata: \[DONE\]\n\n$/);
    const { stdout } = await service.command('usage', 'export', '--from', '2020-01-01', '--to', '2100-01-01');
    const row = stdout.trim().split('\n').at(-1);
    expect(row).toContain(response.headers.get('x-request-id'));
    expect(row).toContain(',failed,shutting_down,');
    expect(await service.command('ledger', 'check')).toMatchObject({ code: 0 });
    service = await Service.start(service.dataDir);
  });

  it('ends when its wrapper is killed, instead of running on unseen', async () => {
    const [relay, postgres] = [pidIn(service.dataDir), postgresIn(service.dataDir)];
    expect(await service.stop('SIGKILL')).toBeNull();
    await eventually(() => expect(alive(relay)).toBe(false), PATIENCE_MS);
    await eventually(() => expect(alive(postgres)).toBe(false), PATIENCE_MS);
  });

  it('adopts the database that a killed server left behind', async () => {
    service = await Service.start(service.dataDir);
    const [relay, postgres] = [pidIn(service.dataDir), postgresIn(service.dataDir)];
    process.kill(relay, 'SIGKILL');
    await eventually(() => expect(service.wrapper.exitCode ?? service.wrapper.signalCode).not.toBeNull(), PATIENCE_MS);
    expect(alive(postgres)).toBe(true);
    service = await Service.start(service.dataDir);
    expect(postgresIn(service.dataDir)).toBe(postgres);
    expect(await service.command('ledger', 'check')).toMatchObject({ code: 0 });
  });

  it('says in one line that its port is taken, and leaves nothing behind', async () => {
    const { port } = new URL(service.address);
    const other = temporaryDataDir();
    const failed = Service.start(other, { PORT: port });
    await expect(failed).rejects.toThrow(`error: Port ${port} of 127.0.0.1 is taken: set PORT`);
    await expect(failed).rejects.not.toThrow(/warn|lost/);
    expect(alive(postgresIn(other))).toBe(false);
    removeDataDir(other);
  });

  it('says in one line which variable is wrong', async () => {
    await expect(Service.start(service.dataDir, { LOG_LEVEL: 'loud', PORT: '99999' })).rejects.toThrow(
      /error: These settings in the environment are wrong: .*PORT.*LOG_LEVEL/,
    );
  });
});
