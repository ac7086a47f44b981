import { ChannelDirectory } from '../../src/channels/index.js';
import { UsageCounting } from '../../src/relay/usage-counting.js';
import { aRequest, PATHS } from '../support/dialects.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import type { StoredCall, TestCaller } from '../support/relay-app.js';
import type { AnswerOptions, Dialect, JsonObject, Script } from '../support/scripted-upstream.js';
import { variantOf } from '../support/scripted-variants.js';

type Upstream = Dialect | 'gemini';

/** Where each upstream's dialect has its totals. */
const TOTALS: Readonly<Record<Upstream, readonly [input: string, output: string]>> = {
  'chat-completions': ['prompt_tokens', 'completion_tokens'],
  messages: ['input_tokens', 'output_tokens'],
  responses: ['input_tokens', 'output_tokens'],
  gemini: ['promptTokenCount', 'candidatesTokenCount'],
};

/** Verbatim where both are the same dialect, else translated. */
const LANES: readonly (readonly [client: Dialect, upstream: Upstream])[] = [
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
const ANSWER: AnswerOptions = {
  text: ['Hel', 'lo, Wor', 'ld! How are y', 'ou today? ', '🌍'],
  usage: { prompt: 9, completion: 7 },
};
const SAID_TOKENS = 11;
/** `Hello` from one user: one token, 4 around a message, 3 before the answer. */
const PROMPT_TOKENS = 8;

const world = usePairsRelay();

/** An answer whose totals are these; undefined: left out. */
const reporting = (upstream: Upstream, totals: readonly [input: unknown, output: unknown], answer = ANSWER): Script =>
  variantOf(upstream, answer, (value) => {
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

/** Of no stream is it known that its upstream reports, so that what the model writes is kept. */
function forgetReports(): void {
  const counting = world.relay.get(UsageCounting);
  for (const channel of world.relay.get(ChannelDirectory).all())
    for (const { id } of [{ id: 'chat-completions' }, { id: 'messages' }, { id: 'responses' }, { id: 'gemini' }])
      counting.learn(channel, `vendor-${id}`, false);
}

async function rowOf(
  client: Dialect,
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
  beforeEach(forgetReports);

  it.each(WAYS)(
    'is charged for the missing answer as counted when a %s client asks %s, streamed: %s',
    async (...way) => {
      const [client, upstream, stream] = way;
      for (const missing of [undefined, -5, 'many', 2.5]) {
        forgetReports();
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
        forgetReports();
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
  beforeEach(forgetReports);

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
    'is charged for the answer as counted: %s client, %s, streamed: %s',
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
});
