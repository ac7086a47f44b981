import { jest } from '@jest/globals';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { isAlive, untilGone } from '../support/processes.js';
import { Service } from '../support/service.js';

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

jest.setTimeout(3 * TIMEOUT_MS);

describe('the program, started as a person starts it', () => {
  let service: Service;
  beforeAll(async () => (service = await Service.start()), 2 * TIMEOUT_MS);
  afterAll(() => service.remove(), TIMEOUT_MS);

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
    const { relayPid, postgresPid } = service;
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(isAlive(relayPid)).toBe(false);
    await untilGone(postgresPid);
    expect(service.hasPidFile).toBe(false);
    service = await Service.start(service.dataDir);
    expect(service.output).not.toMatch(/sk-|Password/);
    expect((await fetch(`${service.address}/readyz`)).status).toBe(200);
  });

  it('logs plain text when LOG_FORMAT is text', async () => {
    await service.stop();
    service = await Service.start(service.dataDir, { LOG_FORMAT: 'text' });
    await fetch(`${service.address}/v1/models`);
    await eventually(() =>
      expect(service.output).toMatch(/^\S+Z INFO {2}context=Request request_id=\S+ method=GET path=\/v1\/models /m),
    );
    expect(service.output).not.toContain('"level"');
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
    const { relayPid, postgresPid } = service;
    expect(await service.stop('SIGKILL')).toBeNull();
    await Promise.all([relayPid, postgresPid].map(untilGone));
  });

  it('adopts the database that a killed server disconnected', async () => {
    service = await Service.start(service.dataDir);
    const { relayPid, postgresPid } = service;
    process.kill(relayPid, 'SIGKILL');
    await eventually(() => expect(service.wrapper.exitCode ?? service.wrapper.signalCode).not.toBeNull(), TIMEOUT_MS);
    expect(isAlive(postgresPid)).toBe(true);
    service = await Service.start(service.dataDir);
    expect(service.postgresPid).toBe(postgresPid);
    expect(await service.command('ledger', 'check')).toMatchObject({ code: 0 });
  });

  it('says in one line that its port is taken, and leaves nothing behind', async () => {
    const { port } = new URL(service.address);
    const other = Service.launch(undefined, { PORT: port });
    await other.ended;
    expect(other.output).toContain(`error: Port ${port} of 127.0.0.1 is already in use. Set PORT`);
    expect(other.output).not.toMatch(/warn|lost/);
    expect(other.databaseRuns).toBe(false);
    await other.remove();
  });

  it('says in one line which variable is wrong', async () => {
    await expect(Service.start(service.dataDir, { LOG_LEVEL: 'loud', PORT: '99999' })).rejects.toThrow(
      /error: Invalid environment: .*PORT.*LOG_LEVEL/,
    );
  });
});
