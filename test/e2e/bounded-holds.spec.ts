import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { randomBytes } from 'node:crypto';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { PHRASES, prose } from '../support/prose.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  bytes,
  delay,
  encodeEvents,
  end,
  eventsIn,
  hang,
  jsonAnswer,
  chatBody,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { responseWithoutUsage } from '../support/scripted-variants.js';

const CHAT = '/v1/chat/completions';
const INPUT = 1000;
const OUTPUT = 10_000;
const SEARCH_FEE = 10_000_000;

/** `$1` per million in, `$10` out. A search costs $0.01. */
const catalog = (baseUrl: string): string => `
models:
  - { name: searcher, context_window: 200000, max_output_tokens: 64000, tool_fees: { web_search: 0.01 },
      tool_max_uses: { web_search: 50 }, prices: [{ input: 1, output: 10 }] }
channels:
  - { name: search, protocol: responses, base_url: "${baseUrl}", credentials: [x], models: { searcher: s },
      flags: { hostedWebSearch: true } }
`;

/** Tokens of all that a model reads of a request, counted by whoever gets it. */
function tokensRead(body: Buffer): number {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  return messages.reduce((sum, { content }) => sum + inParts(content), 0);
}

/** The tokenizer's time grows with the square of a run's length. */
function inParts(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at += 1000) tokens += countTokens(text.slice(at, at + 1000));
  return tokens;
}

const sum = (rows: readonly StoredCall[], column: string): number =>
  rows.reduce((total, row) => total + Number(row[column]), 0);

describe('holds are upper bounds', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalog(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const chat = (text: string, more: object = {}): object => ({
    model: 'm',
    messages: [{ role: 'user', content: text }],
    ...more,
  });

  /** All calls of an account, once so many are settled. */
  const settled = (caller: TestCaller, count: number): Promise<StoredCall[]> =>
    eventually(async () => {
      const rows = await relay.calls(caller);
      if (rows.length < count) throw new Error(`${rows.length} of ${count} are settled.`);
      return rows;
    }, 4 * TIMEOUT_MS);

  /** Asks, and leaves when told to. */
  function leaving(caller: TestCaller, body: object): { response: Promise<Response>; leave: () => void } {
    const client = new AbortController();
    const response = fetch(`${relay.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(body),
      signal: client.signal,
    });
    response.catch(() => undefined);
    return { response, leave: () => client.abort() };
  }

  it('F2: charges all that an upstream bills when 100 calls of base64-like text share $1', async () => {
    const caller = await relay.caller({ credit: '1' });
    let billed = 0;
    relay.upstream.script((request) => {
      const prompt = tokensRead(request.body);
      billed += prompt * INPUT + 10 * OUTPUT;
      return responseIn('chat-completions', { text: 'Hello', usage: { prompt, completion: 10 } });
    });
    const text = randomBytes(30_000).toString('base64');
    const statuses = await Promise.all(
      Array.from(
        { length: 100 },
        async () => (await relay.post(CHAT, caller.key, chat(text, { max_tokens: 10 }))).status,
      ),
    );
    const rows = (await settled(caller, 100)).filter(({ status }) => status === 'succeeded');
    expect(rows).toHaveLength(statuses.filter((status) => status === 200).length);
    // Some 28,000 tokens each, $0.028: what they can pay is not refused.
    expect(rows.length).toBeGreaterThan(30);
    expect(sum(rows, 'cost')).toBe(billed);
    expect(sum(rows, 'uncollected')).toBe(0);
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });

  it('F2: charges the prompt of base64-like text when the client leaves after the first byte', async () => {
    const caller = await relay.caller();
    relay.upstream.script([streamHead(), sse(eventsIn('chat-completions', { text: 'Hello' }).slice(0, 2)), hang()]);
    const text = randomBytes(300_000).toString('base64');
    const { response, leave } = leaving(caller, chat(text, { stream: true }));
    await (await response).body?.getReader().read();
    leave();
    const row = await relay.onlyCall(caller);
    const real = inParts(text);
    expect(row).toMatchObject({ status: 'cancelled', billing_basis: 'partial' });
    // The model reads no more than fits its window.
    expect(Number(row['prompt_tokens'])).toBeGreaterThan(0.95 * Math.min(real, 200_000));
    expect(Number(row['prompt_tokens'])).toBeLessThanOrEqual(200_000);
  });

  it.each([
    [
      'a PDF',
      { type: 'file', file: { file_data: `data:application/pdf;base64,${'JVBERi0x'.repeat(20_000)}` } },
      100_000,
    ],
    ['audio', { type: 'input_audio', input_audio: { data: 'SUQzBAAA'.repeat(20_000), format: 'mp3' } }, 5000],
  ])('F2: holds for %s', async (_what, part, least) => {
    const caller = await relay.caller();
    relay.upstream.script([streamHead(), hang()]);
    const body = { model: 'm', stream: true, max_tokens: 16, messages: [{ role: 'user', content: [part] }] };
    const { leave } = leaving(caller, body);
    await eventually(async () =>
      expect(Number((await relay.wallet(caller)).held) * 1e9).toBeGreaterThan(least * INPUT),
    );
    leave();
    await relay.onlyCall(caller);
  });

  it('F3: admits no call of which the wallet cannot pay the fees', async () => {
    const caller = await relay.caller({ credit: '0.1' });
    let billed = 0;
    relay.upstream.script((request) => {
      const searches = Math.min(50, (request.json['max_tool_calls'] as number | undefined) ?? 50);
      billed += searches * SEARCH_FEE + 100 * INPUT + 10 * OUTPUT;
      const tool_usage = { web_search: { num_requests: searches } };
      const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
      const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }];
      return jsonAnswer(200, {
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: 's',
        output,
        usage,
        tool_usage,
      });
    });
    const ask = (more: object): Promise<Response> =>
      relay.post('/v1/responses', caller.key, {
        model: 'searcher',
        input: 'Hello',
        tools: [{ type: 'web_search' }],
        ...more,
      });
    const refused = await Promise.all(Array.from({ length: 4 }, () => ask({})));
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429]);
    expect((await ask({ max_tool_calls: 5 })).status).toBe(200);
    const rows = await settled(caller, 5);
    expect(sum(rows, 'uncollected')).toBe(0);
    expect(sum(rows, 'cost')).toBe(billed);
  });

  it('F9: charges 25 prompts of 76,000 tokens that were left before the upstream answered', async () => {
    const caller = await relay.caller({ credit: '20' });
    relay.upstream.script([hang()]);
    const text = prose(76_000).join('');
    const real = inParts(text);
    for (let call = 0; call < 25; call += 1) {
      const { leave } = leaving(caller, chat(text, { stream: true }));
      await relay.upstream.nextRequest();
      leave();
    }
    const rows = await settled(caller, 25);
    for (const row of rows) {
      expect(row).toMatchObject({ status: 'cancelled', billing_basis: 'partial', completion_tokens: '0' });
      expect(Number(row['prompt_tokens']) / real).toBeGreaterThan(0.99);
      expect(Number(row['prompt_tokens']) / real).toBeLessThan(1.01);
    }
    expect(sum(rows, 'uncollected')).toBe(0);
  });

  it.each(PHRASES)(
    'F10: charges what was said in %s by its real tokens when the client leaves',
    async (_name, phrase) => {
      const caller = await relay.caller();
      const text = phrase.repeat(40);
      const pieces = text.match(/[\s\S]{1,5}/gu) ?? [];
      const events = eventsIn('chat-completions', { text: pieces }).slice(0, -3);
      relay.upstream.script([streamHead(), sse(events), hang()]);
      const { response, leave } = leaving(caller, chat('Hello', { stream: true }));
      const reader = (await response).body!.getReader();
      let got = 0;
      const all = encodeEvents(events).length;
      while (got < all) got += (await reader.read()).value!.length;
      leave();
      const real = inParts(text);
      const charged = Number((await relay.onlyCall(caller))['completion_tokens']);
      expect(charged / real).toBeGreaterThan(0.95);
      expect(charged / real).toBeLessThan(1.05);
    },
  );

  it.each(PHRASES)(
    'F10: charges what was said in %s by its real tokens when the upstream reports no usage',
    async (_name, phrase) => {
      const caller = await relay.caller();
      const text = phrase.repeat(40);
      relay.upstream.script(responseWithoutUsage('chat-completions', { text: text.match(/[\s\S]{1,5}/gu) ?? [] }));
      expect(await (await relay.post(CHAT, caller.key, chat('Hello', { stream: true }))).text()).toContain('[DONE]');
      const row = await relay.onlyCall(caller);
      expect(row).toMatchObject({ status: 'succeeded', billing_basis: 'estimated' });
      const charged = Number(row['completion_tokens']);
      expect(charged / inParts(text)).toBeGreaterThan(0.95);
      expect(charged / inParts(text)).toBeLessThan(1.05);
    },
  );

  it('F10: lets a stream say all that a wallet for 5,000 tokens pays for', async () => {
    const caller = await relay.caller({ credit: '0.05' });
    // In passing it looks like some 5,800 tokens.
    const said = ' hello'.repeat(4210);
    const pieces = said.match(/.{1,4}/g) ?? [];
    const real = countTokens(said);
    relay.upstream.script(responseIn('chat-completions', { text: pieces, usage: { prompt: 8, completion: real } }));
    const text = await (await relay.post(CHAT, caller.key, chat('Hello', { stream: true }))).text();
    expect(text).toContain('[DONE]');
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', completion_tokens: String(real) });
  });

  it('F11: collects all that 8 parallel streams on $0.05 are let say', async () => {
    const caller = await relay.caller({ credit: '0.05' });
    const phrase = '委员会将于星期四再次开会讨论报告的结果。7391 8842 qX9zKw3Lp ';
    const chunk = Buffer.concat(
      Array.from({ length: 20 }, () => encodeEvents(eventsIn('chat-completions', { text: phrase }).slice(1, 2))),
    );
    const fast: Script = [streamHead(), ...Array.from({ length: 400 }, () => bytes(chunk)), end()];
    relay.upstream.script(fast);
    const got = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const response = await relay.post(CHAT, caller.key, chat('Hello', { stream: true }));
        return response.text();
      }),
    );
    const rows = await settled(caller, 8);
    const said = got.map((text) =>
      (text.match(/"content":"([^"]*)"/g) ?? []).map((match) => match.slice(11, -1)).join(''),
    );
    const real = said.reduce((tokens, text) => tokens + inParts(text), 0);
    expect(sum(rows, 'uncollected')).toBe(0);
    // Nothing was let go that is not paid for.
    expect(real * OUTPUT).toBeLessThanOrEqual(sum(rows, 'cost') * 1.02);
    expect(sum(rows, 'cost')).toBeGreaterThan(0.045 * 1e9);
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });

  it('admits 50 of 50 small calls on a $0.05 wallet without output limits', async () => {
    const caller = await relay.caller({ credit: '0.05' });
    let billed = 0;
    relay.upstream.script(({ json }) => {
      // A wallet near its end lowers the limit of output, and the upstream keeps to it.
      const completion = Math.min(50, (json['max_tokens'] as number | undefined) ?? 50);
      billed += 100 * INPUT + completion * OUTPUT;
      return [delay(5), jsonAnswer(200, chatBody({ text: 'Hello', usage: { prompt: 100, completion } }))];
    });
    const text = prose(93).join('');
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => (await relay.post(CHAT, caller.key, chat(text))).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    const rows = await settled(caller, 50);
    expect(sum(rows, 'cost')).toBe(billed);
    expect(sum(rows, 'uncollected')).toBe(0);
  });
});
