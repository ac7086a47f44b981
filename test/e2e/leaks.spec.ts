import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { DataSource } from 'typeorm';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import {
  BEGUN_TOKENS,
  HIDDEN_PER_SECOND,
  type DisconnectPoint,
  LEAK_ROWS,
  type LeakRow,
  PROMPT_TOKENS,
} from '../support/leaks.js';
import { prose, tokensIn } from '../support/prose.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import { type ProtocolEndpoint, gate, type JsonObject, type RecordedRequest } from '../support/scripted-upstream.js';
import { readText } from '../support/stream-text.js';

/** `$1` per million tokens in, `$10` out, in nanos. */
const PROMPT_PRICE = 1000;
const OUTPUT_PRICE = 10_000;

/** The prices of `m`, for a model with two channels and for one that thinks unseen. */
const catalog = (url: string): string => `
models:
  - { name: two, context_window: 200000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }] }
  - { name: thinker, context_window: 200000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }],
      capabilities: [reasoning], hidden_tokens_per_second: ${HIDDEN_PER_SECOND} }
channels:
${PROTOCOLS.map(
  (protocol) => `
  - { name: first-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [x], flags: { nativeOnly: true }, models: [two, thinker], tier: 1 }
  - { name: second-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [x], flags: { nativeOnly: true }, models: [two], tier: 2 }`,
).join('')}
`;

/** What an upstream of the protocol says when it reports. */
const REPORT: Partial<Record<ProtocolEndpoint, string>> = {
  'chat-completions': '"completion_tokens"',
  messages: 'message_delta',
};

function request(protocol: ProtocolEndpoint, overrides: JsonObject): JsonObject {
  const content = prose(PROMPT_TOKENS).join('');
  if (protocol === 'responses') return aRequest(protocol, { input: content, ...overrides });
  const own = protocol === 'messages' ? { max_tokens: 64_000 } : overrides['stream'] === true && WITH_REPORT;
  return aRequest(protocol, { messages: [{ role: 'user', content }], ...own, ...overrides });
}
const WITH_REPORT = { stream_options: { include_usage: true } };

describe('what an upstream would bill is charged, or given away by a rule', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalog(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const cases = LEAK_ROWS.flatMap((row) =>
    row.kinds.flatMap((kind) =>
      (row.protocols ?? PROTOCOLS).map(
        (protocol) => [`${row.ending} (${kind}, ${protocol})`, row, kind, protocol] as const,
      ),
    ),
  );

  it.each(cases)('%s', async (_, row, kind, protocol) => {
    const caller = await callerFor(row);
    const streamed = kind === 'streamed';
    const read = gate();
    relay.upstream.scriptNext(...row.upstream.map(([play]) => play({ protocol, streamed, read })));
    await call(row, caller, request(protocol, { model: row.model ?? 'm', stream: streamed }), protocol, read);

    const stored = await relay.onlyCall(caller);
    expect(stored).toMatchObject({ status: row.status, billing_basis: row.basis });
    const { requests } = relay.upstream;
    expect(requests.length).toBe(row.upstream.length);
    await Promise.all(requests.map(({ closed }) => closed));
    expectNoLeak(row, stored, requests);
    await expectAllSettled(row, caller, stored);
  });

  function expectNoLeak(row: LeakRow, stored: StoredCall, requests: readonly RecordedRequest[]): void {
    const charged = Number(stored['cost']) + Number(stored['uncollected']);
    const sum = (column: 1 | 2): number =>
      row.upstream.reduce((total, play, index) => total + price(play[column](requests[index]!)), 0);
    const due = sum(1) - sum(2);
    if (row.charge === 'exact') expect(charged).toBe(due);
    else {
      expect(charged).toBeGreaterThanOrEqual(due / 2);
      expect(charged).toBeLessThanOrEqual(due * 2);
    }
  }

  /** Nothing is on hold or open, and what was taken from wallet and key is what the row says. */
  async function expectAllSettled(row: LeakRow, caller: TestCaller, stored: StoredCall): Promise<void> {
    if (row.caller?.credit === undefined) expect(stored['uncollected']).toBe('0');
    const [left] = await relay.get(DataSource).query<JsonObject[]>(
      `SELECT w.balance::bigint + k.used::bigint AS credit, k.used, w.held + k.held AS held, w.holds,
              (SELECT count(*)::int FROM open_calls) AS open
         FROM wallets w JOIN api_keys k USING (account_id) WHERE account_id = $1`,
      [caller.accountId],
    );
    const credit = String(Math.round(Number(row.caller?.credit ?? 10) * 1e9));
    expect(left).toEqual({ credit, used: stored['cost'], held: '0', holds: 0, open: 0 });
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  }

  async function callerFor({ caller: { dailyBudget, ...options } = {} }: LeakRow): Promise<TestCaller> {
    const caller = await relay.caller(options);
    if (dailyBudget !== undefined)
      await relay
        .get(DataSource)
        .query('UPDATE api_keys SET daily_budget = $1 WHERE id = $2', [dailyBudget, caller.keyId]);
    return caller;
  }

  /** Calls, and reads to the end unless the row has the client leave. */
  async function call(
    row: LeakRow,
    caller: TestCaller,
    body: JsonObject,
    protocol: ProtocolEndpoint,
    read: ReturnType<typeof gate>,
  ) {
    const client = new AbortController();
    const answered = row.leaves === 'headers' ? untilHeaders(relay.upstream.origin) : undefined;
    const opened = gate();
    const begun = gate();
    const reported = gate();
    const reading = fetch(`${relay.url}${PATHS[protocol]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(body),
      signal: client.signal,
    }).then((response) =>
      readText(response, (text) => {
        if (text !== '') opened.open();
        if (tokensIn(text) >= BEGUN_TOKENS) begun.open();
        if (text.includes(REPORT[protocol] ?? '"usage"')) reported.open();
      }),
    );
    void begun.then(() => read.open());
    if (row.leaves === undefined) return void (await reading);
    reading.catch(() => undefined);
    const moments: Record<DisconnectPoint, () => Promise<unknown>> = {
      asked: () => relay.upstream.nextRequest(TIMEOUT_MS),
      headers: async () => answered,
      opening: () => opened,
      words: () => begun,
      report: () => reported,
      // More than what was held at first.
      thought: () =>
        eventually(async () => expect(Number((await relay.wallet(caller)).held)).toBeGreaterThan(0.02), TIMEOUT_MS),
    };
    await moments[row.leaves]();
    client.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  }
});

const price = ([prompt, output]: readonly [number, number]): number => prompt * PROMPT_PRICE + output * OUTPUT_PRICE;

/** Resolves when the relay has read the next head that comes from there: no client is told of it. */
function untilHeaders(origin: string): Promise<void> {
  return new Promise((resolve) => {
    const listen = (message: unknown): void => {
      if ((message as { request: { origin: unknown } }).request.origin !== origin) return;
      unsubscribe('undici:request:headers', listen);
      setImmediate(resolve);
    };
    subscribe('undici:request:headers', listen);
  });
}
