import { gzipSync } from 'node:zlib';
import { aRequest, PATHS } from '../support/protocols.js';
import { pairsCatalog } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import type { StoredCall, TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  type AnswerOptions,
  bytes,
  chatBody,
  type ProtocolEndpoint,
  end,
  eventsIn,
  head,
  type JsonObject,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { changedEvents, variantOf } from '../support/scripted-variants.js';

type Upstream = ProtocolEndpoint | 'gemini';

/** Where each upstream's protocol has its totals. */
const TOTALS: Readonly<Record<Upstream, readonly [input: string, output: string]>> = {
  'chat-completions': ['prompt_tokens', 'completion_tokens'],
  messages: ['input_tokens', 'output_tokens'],
  responses: ['input_tokens', 'output_tokens'],
  gemini: ['promptTokenCount', 'candidatesTokenCount'],
};

/** Verbatim where both are the same protocol, else translated. */
const LANES: readonly (readonly [client: ProtocolEndpoint, upstream: Upstream])[] = [
  ['chat-completions', 'chat-completions'],
  ['messages', 'messages'],
  ['responses', 'responses'],
  ['chat-completions', 'messages'],
  ['messages', 'chat-completions'],
  ['chat-completions', 'responses'],
  ['responses', 'gemini'],
];
const WAYS = LANES.flatMap(([client, upstream]) => [false, true].map((stream) => [client, upstream, stream] as const));

/** 11 tokens in o200k_base, as published. */
const RESPONSE: AnswerOptions = {
  text: ['Hel', 'lo, Wor', 'ld! How are y', 'ou today? ', '🌍'],
  usage: { prompt: 9, completion: 7 },
};
const SAID_TOKENS = 11;
/** `Hello` from one user: one token, 4 around a message, 3 before the response. */
const PROMPT_TOKENS = 8;

const world = usePairsRelay();

/** A response whose totals are these; undefined: left out. */
const reporting = (
  upstream: Upstream,
  totals: readonly [input: unknown, output: unknown],
  response = RESPONSE,
): Script =>
  variantOf(upstream, response, (value) => {
    const names = TOTALS[upstream];
    if (!names.some((name) => name in value)) return value;
    const { totalTokenCount: _total, total_tokens: _sum, ...rest } = value;
    const changed: Record<string, unknown> = { ...rest };
    names.forEach((name, side) => {
      if (!(name in value)) return;
      if (totals[side] === undefined) delete changed[name];
      else changed[name] = totals[side];
    });
    return changed;
  });

async function rowOf(
  client: ProtocolEndpoint,
  upstream: Upstream,
  more: JsonObject = {},
  caller: TestCaller = world.caller,
): Promise<StoredCall> {
  const before = new Set((await world.relay.calls(caller)).map(({ id }) => id));
  const body = aRequest(client, { model: `over-${upstream}`, ...more });
  const response = await world.relay.post(PATHS[client], caller.key, body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return (await world.relay.calls(caller)).find(({ id }) => !before.has(id))!;
}

describe('F5: a report with a part that is missing or no count', () => {
  it.each(WAYS)(
    'is charged for the missing answer as counted when a %s client asks %s, streamed: %s',
    async (...way) => {
      const [client, upstream, stream] = way;
      for (const missing of [undefined, -5, 'many', 2.5]) {
        world.relay.upstream.script(reporting(upstream, [9, missing]));
        const row = await rowOf(client, upstream, { stream });
        expect([missing, row]).toMatchObject([
          missing,
          { billing_basis: 'estimated', prompt_tokens: '9', completion_tokens: `${SAID_TOKENS}` },
        ]);
        expect(row['upstream_report']).toMatchObject({ findings: ['completion_missing'], prompt_tokens: 9 });
      }
    },
  );

  it.each(WAYS)(
    'is charged for the missing prompt as counted when a %s client asks %s, streamed: %s',
    async (...way) => {
      const [client, upstream, stream] = way;
      for (const missing of [undefined, -9, 'many']) {
        world.relay.upstream.script(reporting(upstream, [missing, 7]));
        const row = await rowOf(client, upstream, { stream });
        expect([missing, row]).toMatchObject([
          missing,
          { billing_basis: 'estimated', prompt_tokens: `${PROMPT_TOKENS}`, completion_tokens: '7' },
        ]);
      }
    },
  );

  it.each(WAYS)('is taken as it is when its counts are strings: %s client, %s, streamed: %s', async (...way) => {
    const [client, upstream, stream] = way;
    world.relay.upstream.script(reporting(upstream, ['9', '7']));
    expect(await rowOf(client, upstream, { stream })).toMatchObject({
      billing_basis: 'reported',
      prompt_tokens: '9',
      completion_tokens: '7',
      upstream_report: { findings: ['counts_in_strings'] },
    });
  });

  it.each(WAYS)('is corrected when all of it is zero: %s client, %s, streamed: %s', async (...way) => {
    const [client, upstream, stream] = way;
    world.relay.upstream.script(reporting(upstream, [0, 0]));
    const row = await rowOf(client, upstream, { stream });
    expect(row).toMatchObject({
      billing_basis: 'corrected',
      prompt_tokens: `${PROMPT_TOKENS}`,
      completion_tokens: `${SAID_TOKENS}`,
      cost: `${PROMPT_TOKENS * 1000 + SAID_TOKENS * 10_000}`,
    });
    expect(row['upstream_report']).toMatchObject({
      findings: ['prompt_zero', 'completion_zero'],
      prompt_tokens: 0,
      completion_tokens: 0,
    });
  });
});

describe('F6: a report that cannot be true', () => {
  it.each(WAYS)(
    'is charged for the prompt as counted: %s client, %s, streamed: %s',
    async (client, upstream, stream) => {
      const caller = await world.relay.caller({ credit: '100' });
      world.relay.upstream.script(reporting(upstream, [1e10, 7]));
      const row = await rowOf(client, upstream, { stream }, caller);
      expect(row).toMatchObject({
        status: 'succeeded',
        billing_basis: 'corrected',
        prompt_tokens: `${PROMPT_TOKENS}`,
        completion_tokens: '7',
        cost: `${PROMPT_TOKENS * 1000 + 7 * 10_000}`,
        uncollected: '0',
      });
      expect(row['upstream_report']).toMatchObject({ findings: ['prompt_too_large'], prompt_tokens: 1e10 });
      expect(await world.relay.ledger()).toEqual({ exact: true, differences: [] });
    },
  );

  it.each(WAYS)(
    'is charged for the response as counted: %s client, %s, streamed: %s',
    async (client, upstream, stream) => {
      const limit = { [client === 'responses' ? 'max_output_tokens' : 'max_tokens']: 100 };
      world.relay.upstream.script(reporting(upstream, [9, 75_000_000]));
      const row = await rowOf(client, upstream, { stream, ...limit });
      expect(row).toMatchObject({
        billing_basis: 'corrected',
        prompt_tokens: '9',
        completion_tokens: `${SAID_TOKENS}`,
      });
      expect(row['upstream_report']).toMatchObject({
        findings: ['completion_too_large'],
        completion_tokens: 75_000_000,
      });
    },
  );

  it('costs no more than the output limit when 12 MB of blanks come without a report', async () => {
    const script: Script = variantOf('chat-completions', { text: ' '.repeat(12 * 1024 * 1024) }, (value) => ({
      ...value,
      usage: undefined,
    }));
    for (const stream of [false, true]) {
      world.relay.upstream.script(script);
      const row = await rowOf('chat-completions', 'chat-completions', { stream, max_tokens: 100 });
      expect(row).toMatchObject({ status: 'succeeded', billing_basis: 'estimated', completion_tokens: '100' });
    }
  });

  it('costs the prompt alone when 300 MB of blanks come as 300 kB of gzip', async () => {
    const [before, after] = JSON.stringify(chatBody({ text: '#' })).split('#');
    const blanks = gzipSync(Buffer.alloc(3_000_000, ' '));
    const parts = [gzipSync(before!), ...Array.from({ length: 100 }, () => blanks), gzipSync(after!)];
    const packed = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    world.relay.upstream.script([head(200, packed), bytes(Buffer.concat(parts)), end()]);
    const caller = await world.relay.caller({ credit: '100' });
    const requested = aRequest('chat-completions', { model: 'over-chat-completions', max_tokens: 100 });
    const response = await world.relay.post(PATHS['chat-completions'], caller.key, requested);
    // What has expanded to 8 MB passes; the connection breaks where it expands too far.
    await expect(response.text()).rejects.toThrow('terminated');
    expect(await world.relay.onlyCall(caller)).toMatchObject({
      status: 'failed',
      billing_basis: 'partial',
      cost: `${PROMPT_TOKENS * 1000}`,
      uncollected: '0',
    });
  });

  it('does not end a stream for want of money when it begins with a prompt of ten billion tokens', async () => {
    const caller = await world.relay.caller({ credit: '0.05' });
    const events = eventsIn('messages', RESPONSE);
    const wrong = changedEvents(events.slice(0, 1), (value) =>
      'input_tokens' in value ? { ...value, input_tokens: 1e10 } : value,
    );
    world.relay.upstream.script([streamHead(), sse([...wrong, ...events.slice(1)]), end()]);
    const row = await rowOf('messages', 'messages', { stream: true }, caller);
    expect(row).toMatchObject({ status: 'succeeded', completion_tokens: '7', uncollected: '0' });
    expect(Number(row['cost'])).toBeLessThan(200_000);
  });

  it('is replaced by the count on a channel that has reported well', async () => {
    world.relay.upstream.script(reporting('messages', [9, 7]));
    await rowOf('messages', 'messages', { stream: true });
    world.relay.upstream.script(reporting('messages', [1e10, 0]));
    expect(await rowOf('messages', 'messages', { stream: true })).toMatchObject({
      billing_basis: 'corrected',
      prompt_tokens: `${PROMPT_TOKENS}`,
      completion_tokens: `${SAID_TOKENS}`,
    });
  });

  it('is shown to its account and counted by channel', async () => {
    const before = await corrections();
    world.relay.upstream.script(reporting('responses', [1e10, 7]));
    const { id } = await rowOf('responses', 'responses');
    const found = await fetch(`${world.relay.url}/v1/generations/${id}`, {
      headers: { authorization: `Bearer ${world.caller.key}` },
    });
    expect(await found.json()).toMatchObject({
      billing_basis: 'corrected',
      prompt_tokens: PROMPT_TOKENS,
      upstream_report: { findings: ['prompt_too_large'], prompt_tokens: 1e10, completion_tokens: 7 },
    });
    expect(await corrections()).toBe(before + 1);
  });

  it('costs the operator what it says, since the upstream will claim that', async () => {
    // As the model: $1 per million in and $10 out.
    await world.relay.applyCatalog(
      pairsCatalog(world.relay.upstream.url).replaceAll(
        'protocol: messages,',
        'protocol: messages, costs: { over-messages: { input: 1, output: 10 } },',
      ),
    );
    world.relay.upstream.script(reporting('messages', [1e6, 7]));
    const row = await rowOf('messages', 'messages');
    expect(row).toMatchObject({ billing_basis: 'corrected', upstream_cost: `${1e9 + 70_000}` });
  });
});

describe('an honest report that is far from what can be seen', () => {
  it.each<[what: string, client: ProtocolEndpoint, upstream: Upstream, answer: AnswerOptions, request: JsonObject]>([
    [
      'a prompt from the cache',
      'chat-completions',
      'chat-completions',
      { usage: { prompt: 4000, cacheRead: 3900, completion: 2 } },
      {},
    ],
    [
      'a prompt written to the cache',
      'messages',
      'messages',
      { usage: { prompt: 4000, cacheRead: 1000, cacheWrite: 2900, completion: 2 } },
      {},
    ],
    [
      'reasoning that nobody sees',
      'responses',
      'responses',
      { usage: { prompt: 9, completion: 60_000, reasoning: 59_990 } },
      {},
    ],
    [
      'the same over another protocol',
      'chat-completions',
      'gemini',
      { usage: { prompt: 9, completion: 60_000, reasoning: 59_990 } },
      {},
    ],
    [
      'thinking of which no part is told',
      'messages',
      'messages',
      { usage: { prompt: 9, completion: 9000 } },
      { max_tokens: 10_000, thinking: { type: 'enabled', budget_tokens: 8000 } },
    ],
    [
      'four answers',
      'chat-completions',
      'chat-completions',
      { usage: { prompt: 9, completion: 390 } },
      { n: 4, max_tokens: 100 },
    ],
    [
      'an image by address',
      'responses',
      'responses',
      { usage: { prompt: 45_000, completion: 2 } },
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }] },
    ],
    [
      'a file by id',
      'responses',
      'responses',
      { usage: { prompt: 150_000, completion: 2 } },
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
    ],
    [
      'a response that is continued',
      'responses',
      'responses',
      { usage: { prompt: 150_000, completion: 2 } },
      { previous_response_id: 'resp_1' },
    ],
  ])('is charged as it is: %s', async (...row) => {
    const [, client, upstream, response, request] = row;
    for (const stream of [false, true]) {
      world.relay.upstream.script(responseIn(upstream, response));
      expect(await rowOf(client, upstream, { ...request, stream })).toMatchObject({
        status: 'succeeded',
        billing_basis: 'reported',
        prompt_tokens: `${response.usage?.prompt}`,
        completion_tokens: `${response.usage?.completion}`,
        upstream_report: null,
      });
    }
  });
});

/** How many reports of the Responses channel could not be true, as the metrics count them. */
async function corrections(): Promise<number> {
  const text = await (await fetch(`${world.relay.url}/metrics`)).text();
  const line = /^switchboard_usage_reports_total\{[^}]*channel="only-responses",quality="implausible"[^}]*\} (\d+)/m;
  return Number(line.exec(text)?.[1] ?? 0);
}
