import { jest } from '@jest/globals';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { messagesOf, ScriptedSockets } from '../support/scripted-sockets.js';
import { socketClients } from '../support/socket-client.js';
import { halves, LONG_MS, useStoppingService } from '../support/stopping-service.js';

const CALL = { model: 'native', input: 'Hello', store: false };

const catalog = (url: string): string => `
models: [{ name: native, context_window: 200000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }] }]
channels:
  - { name: native, protocol: responses, base_url: "${url}", credentials: [x], models: [native], flags: { websocket: true } }
`;

jest.setTimeout(3 * TIMEOUT_MS);

describe('WebSockets to upstreams of a process', () => {
  const world = useStoppingService();
  const { start, exited, rows, expectExact } = world;
  const open = socketClients(() => ({ url: world.service.address, key: world.caller.key }));
  const [first, second] = halves('responses').map(messagesOf);
  let sockets: ScriptedSockets;
  beforeAll(async () => {
    await world.relay.applyCatalog(catalog(world.relay.upstream.url));
    sockets = new ScriptedSockets(world.relay.upstream.server);
  });
  afterEach(() => sockets.reset());

  it('close after their calls when the process stops', async () => {
    await start(LONG_MS);
    sockets.script((_, connection) => connection.send(...first!));
    const client = await open();
    client.create(CALL);
    await client.message('response.output_text.delta');
    world.service.wrapper.kill('SIGTERM');
    const connection = await sockets.connection();
    connection.send(...second!);
    await client.message('response.completed');
    await eventually(() => expect(client.closed).toMatchObject({ code: 1001 }), TIMEOUT_MS);
    await eventually(() => expect(connection.closed).toBeDefined());
    expect(await exited()).toBe(0);
    expect([...(await rows(1)).values()]).toMatchObject([{ status: 'succeeded', transport: 'websocket' }]);
    await expectExact();
  });

  it('lose no call when the process is killed: before the upstream responds, in the middle, and between two', async () => {
    await start(LONG_MS);
    sockets.script(({ input }, connection) => {
      if (input !== 'hang') connection.send(...first!);
      if (input === 'whole') connection.send(...second!);
    });
    const [asked, streaming, between] = [await open(), await open(), await open()];
    await between.respond({ ...CALL, input: 'whole' });
    asked.create({ ...CALL, input: 'hang' });
    streaming.create({ ...CALL, input: 'half' });
    await streaming.message('response.output_text.delta');
    await eventually(() => expect(sockets.messages).toHaveLength(3));
    process.kill(world.service.relayPid, 'SIGKILL');
    await eventually(() => expect(sockets.connections.map(({ closed }) => closed)).toEqual([1006, 1006, 1006]));
    // The application in this process sweeps.
    const ended = await eventually(() => rows(3), TIMEOUT_MS);
    const found = [...ended.values()].map(({ status, billing_basis: basis }) => `${String(status)} ${String(basis)}`);
    expect(found.toSorted()).toEqual(['interrupted free', 'interrupted free', 'succeeded reported']);
    await expectExact();
  });
});
