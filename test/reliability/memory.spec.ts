import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { endlessStream, eventsIn, hang, sse, streamHead } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';
import { SlowReader } from '../support/slow-reader.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const SUPPORT = join(import.meta.dirname, '../support');
const PROBED = { NODE_OPTIONS: `--import=${pathToFileURL(join(SUPPORT, 'memory-probe.mjs')).href}` };

const READERS = 30;
/** What an upstream has for each of them, at least; it is never asked for all of it. */
const RESPONSE_BYTES = 50 * MIB;
const STREAMS = 200;
/** Past the model's output limit, beyond which estimates are replaced by counts. */
const COUNTED_BYTES = 4 * MIB;
/** More than a stream may cost: it must not be kept once the response has begun. */
const PROMPT = 'x'.repeat(150 * KIB);

/** The process under test shares its database with an application in this one, which makes callers. */
describe('R5: what runs takes little memory, of a process of its own', () => {
  let relay: RelayApp;
  let service: Service;
  let caller: TestCaller;
  const readers: SlowReader[] = [];
  const clients = new AbortController();
  beforeAll(async () => {
    // The first start of a program that is not built takes as long as the build.
    execFileSync(process.execPath, [join(SUPPORT, '../../scripts/build.mjs')], { stdio: 'ignore' });
    relay = await RelayApp.start();
    caller = await relay.caller({ credit: '100000' });
    service = await Service.start(undefined, {
      DATABASE_URL: relay.databaseUrl,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      DEMO: 'off',
      ...PROBED,
    });
  }, 2 * TIMEOUT_MS);
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
    relay.upstream.reset();
  });
  afterAll(async () => {
    clients.abort();
    await service.remove();
    await relay.close();
  });

  /** Resident bytes of the relay when what it does not need has been collected. */
  async function memory(): Promise<number> {
    const reported = (): string[] => service.output.match(/memory: \d+ bytes/g) ?? [];
    const before = reported().length;
    process.kill(service.relayPid, 'SIGUSR2');
    const latest = await eventually(() => {
      expect(reported().length).toBeGreaterThan(before);
      return reported().at(-1);
    }, TIMEOUT_MS);
    return Number(/\d+/.exec(latest ?? '')?.[0]);
  }

  const url = (): string => `${service.address}${PATHS.messages}`;

  /** One thread counts tokens for all calls: it starts, and grows to its working size, before anything is measured. */
  async function countOnce(): Promise<void> {
    relay.upstream.script(endlessStream('messages', { text: 'again '.repeat(4000), gapMs: 0 }));
    const leaving = new AbortController();
    const body = JSON.stringify(aRequest('messages', { stream: true }));
    const headers = { authorization: `Bearer ${caller.key}` };
    const response = await fetch(url(), { method: 'POST', headers, body, signal: leaving.signal });
    const reader = response.body!.getReader();
    for (let read = 0; read < COUNTED_BYTES;) read += (await reader.read()).value!.length;
    leaving.abort();
    await eventually(async () =>
      expect(await relay.calls(caller)).toContainEqual(expect.objectContaining({ status: 'cancelled' })),
    );
  }

  async function openStreams(): Promise<void> {
    const body = JSON.stringify(aRequest('messages', { stream: true, messages: [{ role: 'user', content: PROMPT }] }));
    const headers = { authorization: `Bearer ${caller.key}` };
    for (let opened = 0; opened < STREAMS; opened += 1) {
      const response = await fetch(url(), { method: 'POST', headers, body, signal: clients.signal });
      await response.body?.getReader().read();
    }
  }

  it(
    `R5: ${READERS} clients that read 1 kB/s of 50 MB have the relay grow by less than 2 MB each`,
    async () => {
      const body = JSON.stringify(aRequest('messages', { stream: true }));
      await Promise.all(
        Array.from({ length: READERS }, async () =>
          (await fetch(url(), { method: 'POST', headers: { authorization: `Bearer ${caller.key}` }, body })).text(),
        ),
      );
      await countOnce();
      relay.upstream.reset();
      relay.upstream.script(endlessStream('messages', { text: 'again '.repeat(4000), gapMs: 0 }));
      const before = await memory();
      const headers = { authorization: `Bearer ${caller.key}` };
      for (let index = 0; index < READERS; index += 1)
        readers.push(new SlowReader({ url: url(), headers, body, bytesPerSecond: 1000 }));
      const sent = await standstill();
      const growth = (await memory()) - before;
      expect(relay.upstream.requests).toHaveLength(READERS);
      expect(readers.filter(({ open, taken }) => open && taken > 0)).toHaveLength(READERS);
      // It was the relay that held them back, and not the end of what they have to say.
      expect(sent / READERS).toBeLessThan(RESPONSE_BYTES);
      expect(growth / READERS / MIB).toBeLessThan(2);
    },
    3 * TIMEOUT_MS,
  );

  /** Bytes that the upstream has written when it has not written much for a while. */
  async function standstill(): Promise<number> {
    const total = (): number => relay.upstream.requests.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
    const readEnough = (): boolean => total() > READERS * RESPONSE_BYTES;
    return eventually(async () => {
      const before = total();
      await sleep(1000);
      const isStill = relay.upstream.requests.length === READERS && total() - before < READERS * 64 * KIB;
      if (!isStill && !readEnough()) throw new Error(`The upstream still writes: ${total()} bytes.`);
      return total();
    }, TIMEOUT_MS);
  }

  it(
    'R5: a stream that says nothing takes less than 100 kB, however long its prompt was',
    async () => {
      const events = eventsIn('messages', { text: ['Hello ', 'there'] });
      // Only of the second half it is told what a stream costs: the first ones have the program compile what it needs.
      await (await fetch(url(), finished(caller.key))).text();
      relay.upstream.script([streamHead(), sse(events.slice(0, 4)), hang()]);
      await openStreams();
      const before = await memory();
      await openStreams();
      expect(((await memory()) - before) / STREAMS / KIB).toBeLessThan(100);
    },
    3 * TIMEOUT_MS,
  );
});

const finished = (key: string): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Bearer ${key}` },
  body: JSON.stringify(aRequest('messages', { stream: true })),
});
