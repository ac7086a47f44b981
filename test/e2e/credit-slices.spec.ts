import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  type ProtocolEndpoint,
  encodeEvents,
  end,
  endlessStream,
  eventsIn,
  gate,
  hang,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';

const EXACT = { exact: true, differences: [] };
/** 100 tokens, as they are counted in passing. */
const HUNDRED_TOKENS = 'four'.repeat(100);

/** `$1` per million in, `$10` out, like `m`; thinks 1,000 tokens a second out of sight. */
const thinker = (baseUrl: string): string => `
models:
  - { name: thinker, context_window: 200000, max_output_tokens: 64000, groups: [default], capabilities: [reasoning],
      hidden_tokens_per_second: 1000, prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }
channels:
${PROTOCOLS.map((protocol) => `  - { name: thinker-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], models: { thinker: x } }`).join('\n')}
`;

/** All text that a client of the protocol gets out of a stream. */
type Reader = (relay: RelayApp, caller: TestCaller) => Promise<string>;

/** What each protocol must be told so that a response may be long. */
const LONG: Readonly<Record<ProtocolEndpoint, object>> = {
  'chat-completions': {},
  messages: { max_tokens: 64_000 },
  responses: {},
};

const READERS: Readonly<Record<ProtocolEndpoint, Reader>> = {
  async 'chat-completions'(relay, caller) {
    const client = new OpenAI({ baseURL: `${relay.url}/v1`, apiKey: caller.key, maxRetries: 0 });
    let text = '';
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    for await (const chunk of await client.chat.completions.create({ model: 'm', messages, stream: true }))
      text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },
  async messages(relay, caller) {
    const client = new Anthropic({ baseURL: relay.url, apiKey: caller.key, maxRetries: 0 });
    let text = '';
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const request = { model: 'm', max_tokens: 64_000, messages, stream: true as const };
    for await (const event of await client.messages.create(request))
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
    return text;
  },
  async responses(relay, caller) {
    const client = new OpenAI({ baseURL: `${relay.url}/v1`, apiKey: caller.key, maxRetries: 0 });
    let text = '';
    for await (const event of await client.responses.create({ model: 'm', input: 'Hello', stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.failed') throw new Error(event.response.error?.message);
      if (event.type === 'error') throw new Error(event.message);
    }
    return text;
  },
};

describe('a stream and the money held for it', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(thinker(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const held = async (caller: TestCaller): Promise<number> => Number((await relay.wallet(caller)).held);

  it.each(PROTOCOLS)('raises the hold ahead of use while the response comes: %s', async (protocol) => {
    const caller = await relay.caller();
    const begin = gate();
    const answer = { text: Array.from({ length: 30 }, () => HUNDRED_TOKENS), usage: { prompt: 10, completion: 3000 } };
    relay.upstream.script([waitFor(begin), responseIn(protocol, answer)]);
    const request = aRequest(protocol, { stream: true, ...LONG[protocol] });
    const response = relay.post(PATHS[protocol], caller.key, request);
    // The prompt and 1,024 tokens at $10 per million.
    await eventually(async () => expect(await held(caller)).toBeGreaterThan(0.01024));
    expect(await held(caller)).toBeLessThan(0.0104);
    begin.open();
    await (await response).text();
    // 10 × $1/M + 3,000 × $10/M
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', cost: '30010000', uncollected: '0' });
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  });

  it.each(PROTOCOLS)(
    'ends within the stream when wallet and hold are used up, and the SDK raises it: %s',
    async (protocol) => {
      const caller = await relay.caller({ credit: '0.02' });
      relay.upstream.script(endlessStream(protocol, { text: HUNDRED_TOKENS, gapMs: 1 }));
      let error: unknown;
      await READERS[protocol](relay, caller).catch((thrown: unknown) => (error = thrown));
      expect(String(error)).toMatch(/insufficient quota: your wallet has \$0/);
      const row = await relay.onlyCall(caller);
      expect(row).toMatchObject({ status: 'failed', error_reason: 'insufficient quota', billing_basis: 'partial' });
      // Nearly all of the $0.02, and no more.
      expect(Number(row['cost'])).toBeGreaterThan(19_000_000);
      expect(Number(row['cost'])).toBeLessThanOrEqual(20_000_000);
      expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
      await eventually(() => expect(relay.upstream.requests[0]?.closedAt).toBeDefined());
      expect(await relay.ledger()).toEqual(EXACT);
    },
  );

  it.each(PROTOCOLS)(
    'ends when the upstream exceeds its output limit and the balance is used up: %s',
    async (protocol) => {
      // For some 480 tokens, which is what goes upstream as the limit.
      const caller = await relay.caller({ credit: '0.005' });
      relay.upstream.script(endlessStream(protocol, { text: HUNDRED_TOKENS, gapMs: 1 }));
      const response = await relay.post(
        PATHS[protocol],
        caller.key,
        aRequest(protocol, { stream: true, ...LONG[protocol] }),
      );
      const limit = Number(response.headers.get('x-relay-output-limit'));
      expect(limit).toBeGreaterThan(400);
      expect(await response.text()).toContain('insufficient quota: your wallet has $0');
      const row = await relay.onlyCall(caller);
      expect(row).toMatchObject({ status: 'failed', billing_basis: 'partial', uncollected: '0' });
      // As much as whole tokens come to.
      expect(Number(row['cost'])).toBeGreaterThan(4_990_000);
      expect(Number(row['cost'])).toBeLessThanOrEqual(5_000_000);
      await eventually(() => expect(relay.upstream.requests[0]?.closedAt).toBeDefined());
      expect(await relay.ledger()).toEqual(EXACT);
    },
  );

  it('charges no more than the limit of the request when the upstream says more and reports it', async () => {
    const caller = await relay.caller();
    const text = Array.from({ length: 30 }, () => HUNDRED_TOKENS);
    relay.upstream.script(responseIn('messages', { text, usage: { prompt: 10, completion: 3000 } }));
    const request = aRequest('messages', { stream: true, max_tokens: 100 });
    expect(await (await relay.post('/v1/messages', caller.key, request)).text()).toContain('message_stop');
    // 10 × $1/M + 100 × $10/M
    const charged = { billing_basis: 'corrected', completion_tokens: '100', cost: '1010000', uncollected: '0' };
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', ...charged });
  });

  /** Everything before the first content, with the usage that some protocols begin with. */
  const opening = (protocol: ProtocolEndpoint) => {
    const events = eventsIn(protocol, { text: 'Hello', usage: { prompt: 100, completion: 1 } });
    return events.slice(
      0,
      events.findIndex((event) => encodeEvents([event]).includes('Hello')),
    );
  };

  /** About what a prompt of a few words and so many seconds of thinking cost. */
  const expectThought = (row: StoredCall, fromSeconds: number, toSeconds: number): void => {
    expect(row).toMatchObject({ billing_basis: 'partial', first_token_ms: null });
    expect(Number(row['cost'])).toBeGreaterThan(fromSeconds * 10_000_000);
    expect(Number(row['cost'])).toBeLessThanOrEqual(toSeconds * 10_000_000 + 200_000);
  };

  it.each(PROTOCOLS)('ends a model that thinks out of sight when the money is used up: %s', async (protocol) => {
    const caller = await relay.caller({ credit: '0.02' });
    relay.upstream.script([streamHead(), sse(opening(protocol)), hang()]);
    const request = aRequest(protocol, { model: 'thinker', stream: true, ...LONG[protocol] });
    const response = await relay.post(PATHS[protocol], caller.key, request);
    expect(await response.text()).toContain('insufficient quota: your wallet has $0');
    const row = await relay.onlyCall(caller);
    expect(row).toMatchObject({ status: 'failed', error_reason: 'insufficient quota' });
    expectThought(row, 1, 2);
    await eventually(() => expect(relay.upstream.requests[0]?.closedAt).toBeDefined());
    expect(await relay.ledger()).toEqual(EXACT);
  });

  it.each(PROTOCOLS)('charges for what was thought when the client leaves meanwhile: %s', async (protocol) => {
    const caller = await relay.caller();
    relay.upstream.script([streamHead(), sse(opening(protocol)), hang()]);
    const request = aRequest(protocol, { model: 'thinker', stream: true, ...LONG[protocol] });
    const leaving = new AbortController();
    const begun = performance.now();
    const text = fetch(`${relay.url}${PATHS[protocol]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(request),
      signal: leaving.signal,
    }).then((response) => response.text());
    // More than the first hold covers: it has been raised by then.
    await eventually(async () => expect(await held(caller)).toBeGreaterThan(0.02));
    leaving.abort();
    await expect(text).rejects.toThrow(/abort/);
    const row = await relay.onlyCall(caller);
    expect(row).toMatchObject({ status: 'cancelled', error_reason: 'context canceled' });
    expectThought(row, 0.5, (performance.now() - begun) / 1000);
  });

  it('does not charge for time when the upstream reports what it was', async () => {
    const caller = await relay.caller();
    const shown = gate();
    const events = eventsIn('responses', { text: 'Hello', usage: { prompt: 100, completion: 7 } });
    relay.upstream.script([streamHead(), sse(events.slice(0, 2)), waitFor(shown), sse(events.slice(2)), end()]);
    const response = relay.post('/v1/responses', caller.key, aRequest('responses', { model: 'thinker', stream: true }));
    await eventually(async () => expect(await held(caller)).toBeGreaterThan(0.02));
    shown.open();
    await (await response).text();
    // 100 × $1/M + 7 × $10/M
    expect(await relay.onlyCall(caller)).toMatchObject({ billing_basis: 'reported', cost: '170000' });
  });
});
