import { jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { gate, hang, type JsonObject, responseIn } from '../support/scripted-upstream.js';
import { SocketClient, socketClients } from '../support/socket-client.js';
import { CUT_OFF, LONG_MS, useStoppingService } from '../support/stopping-service.js';

const HELLO = { model: 'm', input: 'Hello' };
const IDLE = 1000;
const WARM = 400;
/** More than one key may have. */
const KEYS = 4;
const MAX_IDLE_BYTES = 40_000;

jest.setTimeout(3 * TIMEOUT_MS);

describe('WebSockets of a process', () => {
  const world = useStoppingService();
  const { start, exited, untilDraining, endGrace, inHalves, rows, expectExact } = world;
  const open = socketClients(() => ({ url: world.service.address, key: world.caller.key }));

  it.each<Record<string, string>>([{}, { WORKERS: '2' }])(
    'that is told to stop end when their calls have ended, idle ones at once, with %j',
    async (environment) => {
      await start(LONG_MS, environment);
      const finish = gate();
      world.relay.upstream.script(inHalves(() => finish));
      const [idle, busy] = [await open(), await open()];
      busy.create({ ...HELLO, stream_id: 'a' });
      await busy.message('response.output_text.delta');
      world.service.wrapper.kill('SIGTERM');
      await eventually(() => expect(idle.closed).toMatchObject({ code: 1001 }), TIMEOUT_MS);
      busy.create({ ...HELLO, stream_id: 'b' });
      const refused = { status: 503, stream_id: 'b', headers: { 'retry-after': '1' } };
      expect(await busy.message('error')).toMatchObject(refused);
      finish.open();
      await busy.message('response.completed');
      await eventually(() => expect(busy.closed).toMatchObject({ code: 1001 }), TIMEOUT_MS);
      expect(await exited()).toBe(0);
      const statuses = [...(await rows(2)).values()].map(({ status }) => status);
      expect(statuses).toEqual(['succeeded', 'refused']);
      await expectExact();
    },
  );

  it('report the shutdown to running calls when the grace period ends', async () => {
    await start(LONG_MS);
    world.relay.upstream.script(inHalves(() => new Promise(() => undefined)));
    const client = await open();
    client.create(HELLO);
    await client.message('response.output_text.delta');
    world.service.wrapper.kill('SIGTERM');
    await untilDraining();
    await endGrace();
    const failed = await client.message('response.failed');
    const { error } = failed['response'] as { error: JsonObject };
    expect(error).toMatchObject({ code: 'server_error', message: expect.stringContaining(CUT_OFF) });
    expect(await exited()).toBe(0);
    expect([...(await rows(1)).values()]).toMatchObject([{ status: 'failed', error_reason: 'shutting_down' }]);
    await expectExact();
  });

  it('lose no call when the process is killed: before the upstream responds, in the middle, and between two', async () => {
    await start(LONG_MS);
    const [requested, streaming, between] = [await open(), await open(), await open()];
    world.relay.upstream.script(({ json }) => {
      const { input } = json as { input: string };
      if (input === 'hang') return hang();
      return input === 'half' ? inHalves(() => new Promise(() => undefined)) : responseIn('responses');
    });
    await between.respond({ ...HELLO, store: false });
    requested.create({ ...HELLO, input: 'hang' });
    streaming.create({ ...HELLO, input: 'half' });
    await streaming.message('response.output_text.delta');
    await eventually(() => expect(world.relay.upstream.requests).toHaveLength(3));
    process.kill(world.service.relayPid, 'SIGKILL');
    await eventually(() =>
      expect([requested, streaming, between].map(({ closed }) => closed?.code)).toEqual([1006, 1006, 1006]),
    );
    // The application in this process sweeps.
    const ended = await eventually(() => rows(3), TIMEOUT_MS);
    const found = [...ended.values()].map(({ status, billing_basis: basis }) => `${String(status)} ${String(basis)}`);
    expect(found.toSorted()).toEqual(['interrupted free', 'interrupted free', 'succeeded reported']);
    await expectExact();
  });

  it(`of which ${IDLE} are idle take at most ${MAX_IDLE_BYTES} bytes of memory each`, async () => {
    await start(LONG_MS);
    const callers = await Promise.all(Array.from({ length: KEYS }, () => world.relay.caller()));
    const opened: SocketClient[] = [];
    const openMore = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1)
        opened.push(await SocketClient.open(world.service.address, callers[index % KEYS]?.key ?? ''));
    };
    const bytes = (): number =>
      1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(world.service.relayPid)]).toString());
    // What the first connections load stays.
    await openMore(WARM);
    for (const client of opened.splice(0)) client.socket.terminate();
    const before = bytes();
    await openMore(IDLE);
    const bytesEach = Math.round((bytes() - before) / IDLE);
    process.stdout.write(`${IDLE} idle WebSockets: ${bytesEach} bytes each\n`);
    expect(bytesEach).toBeLessThan(MAX_IDLE_BYTES);
    expect(opened.filter(({ closed }) => closed !== undefined)).toEqual([]);
    for (const client of opened) client.socket.terminate();
  });
});
