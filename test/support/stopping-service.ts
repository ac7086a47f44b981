/** A process that is told to stop, for specs of what becomes of its calls. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { plain } from './api-errors.js';
import { aRequest, PATHS } from './protocols.js';
import { eventually, TIMEOUT_MS } from './eventually.js';
import { RawClient } from './raw-client.js';
import { RelayApp, type TestCaller } from './relay-app.js';
import {
  type ProtocolEndpoint,
  encodeEvents,
  eventsAround,
  eventsIn,
  gate,
  type JsonObject,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
  waitFor,
} from './scripted-upstream.js';
import { Service } from './service.js';
import { readEvents, readText, withoutKeepAlives } from './stream-text.js';

/** Longer than any test: who waits for its end fails. */
export const LONG_MS = '600000';
export const CUT_OFF = 'The server is shutting down and this call did not end in time. Retry shortly.';

/** A response in two halves: up to its first piece of text, and what comes behind. */
export function halves(protocol: string, text = ['Hello ', 'there']): [ScriptedEvent[], ScriptedEvent[]] {
  const events = eventsIn(protocol, { text, usage: { prompt: 100, completion: 5 } });
  const { until, behind } = eventsAround(events, text[0] ?? '');
  return [until, behind];
}

/** Serves `twice` from a second channel when the first one fails. */
const twoChannels = (baseUrl: string): string => `
models: [{ name: twice, context_window: 200000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }] }]
channels:
  - { name: first, protocol: responses, base_url: "${baseUrl}", credentials: [x], models: [twice], tier: 1 }
  - { name: second, protocol: responses, base_url: "${baseUrl}", credentials: [x], models: [twice], tier: 2 }
`;

/** One stream as its client sees it. */
export interface OpenStream {
  readonly protocol: ProtocolEndpoint;
  readonly id: string;
  /** Opens with the first piece of text. */
  readonly begun: Promise<void>;
  readonly text: Promise<string>;
}

/** The process under test shares its database with an application in this one, which makes callers and reads rows. */
export class StoppingService {
  relay!: RelayApp;
  service!: Service;
  caller!: TestCaller;

  readonly start = async (graceMs: string, environment: Record<string, string> = {}): Promise<void> => {
    this.service = await Service.start(undefined, {
      DATABASE_URL: this.relay.databaseUrl,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      DEMO: 'off',
      SHUTDOWN_GRACE_MS: graceMs,
      ...environment,
    });
  };

  readonly exited = async (): Promise<number | null> =>
    eventually(() => {
      if (this.service.wrapper.exitCode === null) throw new Error(`Still running:\n${this.service.output}`);
      return this.service.wrapper.exitCode;
    }, TIMEOUT_MS);
  readonly untilDraining = (): Promise<void> =>
    eventually(async () => expect((await fetch(`${this.service.address}/readyz`)).status).toBe(503), TIMEOUT_MS);
  /** A second SIGTERM counts from a second after the first on. */
  readonly endGrace = (kill: () => void = () => this.service.wrapper.kill('SIGTERM')): Promise<void> =>
    eventually(() => {
      kill();
      expect(this.service.output).toContain('SIGTERM received again');
    }, TIMEOUT_MS);
  readonly untilCutOff = (): Promise<void> => this.service.untilPrinted(/Shutdown timed out: \d+ requests/, TIMEOUT_MS);

  readonly post = (protocol: ProtocolEndpoint, overrides: JsonObject = {}): Promise<Response> => {
    return fetch(`${this.service.address}${PATHS[protocol]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.caller.key}` },
      body: JSON.stringify(aRequest(protocol, overrides)),
    });
  };

  readonly stream = async (protocol: ProtocolEndpoint): Promise<OpenStream> => {
    const response = await this.post(protocol, { stream: true });
    expect(response.status).toBe(200);
    const begun = gate();
    const text = readText(response, (soFar) => {
      if (soFar.includes('Hello ')) begun.open();
    });
    text.catch(() => undefined);
    return { protocol, id: response.headers.get('x-request-id') ?? '', begun, text };
  };

  /** Responses with the first half of a stream, and with the second when the gate opens. */
  readonly inHalves =
    (until: () => Promise<void>): Script =>
    ({ protocol = 'messages' }) => {
      const [first, second] = halves(protocol);
      return [streamHead(), sse(first), waitFor(until()), sse(second)];
    };

  /** What a client has heard was the beginning of a response, then an error of its protocol and nothing else. */
  readonly expectCutOff = async ({ protocol, id, text }: OpenStream, message = CUT_OFF): Promise<void> => {
    const before = withoutKeepAlives(encodeEvents(halves(protocol)[0]).toString());
    const received = withoutKeepAlives(await text);
    expect(received.slice(0, before.length)).toBe(before);
    const events = readEvents(received.slice(before.length));
    const reported = `${message} (request id: ${id})`;
    if (protocol === 'responses') {
      expect(events.map(({ event, data }) => event ?? data)).toEqual(['error', 'response.failed', '[DONE]']);
      const error = { type: 'server_error', code: 'server_error', message: reported, param: null };
      expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({ ...error, type: 'error', error });
      const response = { status: 'failed', error: { code: 'server_error', message: reported } };
      expect(JSON.parse(events[1]?.data ?? '')).toMatchObject({ type: 'response.failed', response });
      return;
    }
    const openAi = { error: { message: reported, type: 'server_error', param: null, code: 'server_is_overloaded' } };
    const messages = { type: 'error', error: { type: 'overloaded_error', message: reported }, request_id: id };
    expect(events.map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
      protocol === 'messages' ? ['error', messages] : [undefined, openAi],
    ]);
  };

  readonly expectRefused = async (protocol: ProtocolEndpoint, response: Response, message: string): Promise<void> => {
    const id = response.headers.get('x-request-id') ?? '';
    const text = await response.text();
    expect([response.status, text]).toEqual([protocol === 'messages' ? 529 : 503, expect.any(String)]);
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'retry-after': '1', connection: 'close' });
    expect(response.headers.get('x-should-retry')).toBeNull();
    const { error } = JSON.parse(text) as { error: { message: string } };
    expect(plain(error.message, id)).toBe(message);
    expect(error).toMatchObject(
      protocol === 'messages'
        ? { type: 'overloaded_error' }
        : { type: 'server_error', code: 'server_is_overloaded', param: null },
    );
  };

  /** The row of each call by its id. */
  readonly rows = async (count: number): Promise<ReadonlyMap<string, JsonObject>> => {
    const calls = await eventually(async () => {
      const all = await this.relay.calls(this.caller);
      expect(all).toHaveLength(count);
      return all;
    });
    return new Map(calls.map((row) => [row.id, row]));
  };

  readonly expectExact = async (): Promise<void> => {
    expect(await this.relay.wallet(this.caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await this.relay.ledger()).toEqual({ exact: true, differences: [] });
  };
}

/** For a spec file: another process for each test, gone behind it. */
export function useStoppingService(): StoppingService {
  const world = new StoppingService();
  beforeAll(async () => {
    // The first start of a program that is not built takes as long as the build.
    execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.mjs')], { stdio: 'ignore' });
    world.relay = await RelayApp.start();
    await world.relay.applyCatalog(twoChannels(world.relay.upstream.url));
  });
  afterAll(() => world.relay.close());
  beforeEach(async () => (world.caller = await world.relay.caller()));
  afterEach(async () => {
    RawClient.closeAll();
    await world.service.stop('SIGKILL');
    world.relay.upstream.reset();
    await world.service.remove();
  });
  return world;
}
