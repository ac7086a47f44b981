import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { catalogFor, RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, type ProtocolEndpoint, endlessStream } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';

const SUPPORT = join(import.meta.dirname, '../support');
const PROBED = { NODE_OPTIONS: `--import=${pathToFileURL(join(SUPPORT, 'loop-probe.mjs')).href}` };
const STREAMS = 50;
const MAX_SLICE_MS = 50;
const MB = 1_000_000;

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A conversation of so many messages, in a body of about so many bytes. */
function conversation(count: number, bytes: number): Buffer {
  const role = (index: number): string => (index % 2 === 0 ? 'user' : 'assistant');
  const frame = '{"role":"assistant","content":""},'.length;
  const text = 'word '.repeat(Math.ceil(bytes / count / 5)).slice(0, Math.max(1, bytes / count - frame));
  const messages = Array.from({ length: count }, (_, index) => `{"role":"${role(index)}","content":"${text}"}`);
  return Buffer.from(`{"model":"only-chat","max_tokens":10,"messages":[${messages.join(',')}]}`);
}

function withTools(protocol: ProtocolEndpoint, count: number): Buffer {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const tools = Array.from({ length: count }, (_, index) => {
    const common = { name: `tool_${index}`, description: 'Does what it is called.' };
    return protocol === 'messages'
      ? { ...common, input_schema: schema }
      : { ...common, type: 'function', parameters: schema };
  });
  return Buffer.from(JSON.stringify(aRequest(protocol, { model: 'only-chat', tools })));
}

/** The relay is a process of its own: what this one does for clients and upstreams is not its work. */
describe('N2: requests of 60 MB beside 50 streams', () => {
  let relay: RelayApp;
  let service: Service;
  let caller: TestCaller;
  const clients = new AbortController();

  beforeAll(async () => {
    // The first start of a program that is not built takes as long as the build.
    execFileSync(process.execPath, [join(SUPPORT, '../../scripts/build.mjs')], { stdio: 'ignore' });
    relay = await RelayApp.start();
    await relay.applyCatalog(catalogFor(relay.upstream.url).replaceAll('flags: { nativeOnly: true }', 'flags: {}'));
    caller = await relay.caller({ credit: '100000' });
    service = await Service.start(undefined, {
      DATABASE_URL: relay.databaseUrl,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      DEMO: 'off',
      ...PROBED,
    });
    await openStreams();
  }, 2 * TIMEOUT_MS);
  afterAll(async () => {
    clients.abort();
    await service.remove();
    await relay.close();
  }, TIMEOUT_MS);

  async function openStreams(): Promise<void> {
    relay.upstream.script(endlessStream('messages', { text: 'again ', gapMs: 20 }));
    const headers = { authorization: `Bearer ${caller.key}` };
    const body = JSON.stringify(aRequest('messages', { stream: true }));
    for (let opened = 0; opened < STREAMS; opened += 1) {
      const url = `${service.address}${PATHS.messages}`;
      const response = await fetch(url, { method: 'POST', headers, body, signal: clients.signal });
      void response.body?.pipeTo(new WritableStream()).catch(() => undefined);
    }
    relay.upstream.script(responseIn('chat-completions'));
  }

  /** The longest slice of the relay's work since this was last asked. */
  async function longestSliceMs(): Promise<number> {
    const reported = (): string[] => service.output.match(/longest slice: [\d.]+/g) ?? [];
    const before = reported().length;
    process.kill(service.relayPid, 'SIGUSR2');
    const latest = await eventually(() => {
      expect(reported().length).toBeGreaterThan(before);
      return reported().at(-1);
    }, TIMEOUT_MS);
    return Number(/[\d.]+$/.exec(latest ?? '')?.[0]);
  }

  async function post(protocol: ProtocolEndpoint, body: Buffer): Promise<Reply> {
    const headers = { authorization: `Bearer ${caller.key}`, 'content-length': body.length };
    const sent = request(`${service.address}${PATHS[protocol]}`, { method: 'POST', headers });
    sent.end(body);
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, text: (await buffer(response)).toString() };
  }

  /** Bytes that requests take of their budget. */
  async function bodyMemory(): Promise<number> {
    const metrics = await (await fetch(`${service.address}/metrics`)).text();
    return Number(/^switchboard_body_memory_bytes(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1]);
  }

  /** What the streams alone cost, and what they and a request do: in the loop's longest slice. */
  async function beside(run: () => Promise<Reply>): Promise<{ reply: Reply; bareMs: number; longestMs: number }> {
    await longestSliceMs();
    await sleep(1000);
    const bareMs = await longestSliceMs();
    const reply = await run();
    return { reply, bareMs, longestMs: await longestSliceMs() };
  }

  const expectNoStall = ({ bareMs, longestMs }: { bareMs: number; longestMs: number }): void =>
    expect(longestMs).toBeLessThanOrEqual(Math.max(MAX_SLICE_MS, 3 * bareMs));

  it.each<[string, () => Buffer, string]>([
    ['1.6 million messages', () => conversation(1_600_000, 60 * MB), 'messages: must have at most 100000 elements.'],
    ['20,000 tools', () => withTools('messages', 20_000), 'tools: must have at most 10000 elements.'],
    [
      '1.6 million parts of a message',
      () => Buffer.from(`{"model":"m","messages":[{"role":"user","content":[${'0,'.repeat(1_600_000)}0]}]}`),
      'The request body has more than 1000000 JSON values.',
    ],
  ])(
    'are refused for what is too many, in slices: %s',
    async (_, body, message) => {
      const { reply, ...slices } = await beside(() => post('messages', body()));
      expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(message)]);
      expectNoStall(slices);
    },
    3 * TIMEOUT_MS,
  );

  it.each<[string, ProtocolEndpoint, () => Buffer]>([
    ['100,000 messages, translated', 'messages', () => conversation(100_000, 60 * MB)],
    ['one text of 60 MB, translated', 'messages', () => conversation(1, 60 * MB)],
    ['10,000 tools, translated', 'messages', () => withTools('messages', 10_000)],
    ['3,990 tools, translated and repeated in the response', 'responses', () => withTools('responses', 3990)],
    ['100,000 messages as they are', 'chat-completions', () => conversation(100_000, 60 * MB)],
  ])(
    'are answered without holding the event loop for more than 50 ms: %s',
    async (_, protocol, body) => {
      const heldBytes = await bodyMemory();
      const { reply, ...slices } = await beside(() => post(protocol, body()));
      expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('Hello')]);
      expectNoStall(slices);
      await eventually(async () => expect(await bodyMemory()).toBe(heldBytes));
    },
    3 * TIMEOUT_MS,
  );

  it('are refused for what cannot be translated as small ones are', async () => {
    const members = { mcp_servers: [{ type: 'url', url: 'https://a.test', name: 'a' }], extra: 'x'.repeat(MB) };
    const body = Buffer.from(JSON.stringify(aRequest('messages', { model: 'only-chat', ...members })));
    const { status, text } = await post('messages', body);
    expect([status, text]).toEqual([400, expect.stringContaining('mcp_servers cannot be used with this model')]);
  });
});
