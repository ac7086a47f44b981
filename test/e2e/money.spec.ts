import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { RelayApp } from '../support/relay-app.js';
import { responseIn, errorResponse, gate, waitFor } from '../support/scripted-upstream.js';

const EXACT = { exact: true, differences: [] };

/** $1 per million in, $15 out, and a response may be long. */
const talker = (baseUrl: string): string => `
models:
  - { name: talker, context_window: 1000000, max_output_tokens: 128000, prices: [{ input: 1, output: 15 }] }
channels:
${PROTOCOLS.map((protocol) => `  - { name: talker-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], models: [talker] }`).join('\n')}
`;

describe('money', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(talker(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  it('lets exactly those of 200 parallel calls pass that the wallet covers, and ends at 0', async () => {
    const caller = await relay.caller({ credit: '1' });
    const allAdmitted = gate();
    relay.upstream.script([waitFor(allAdmitted), responseIn('chat-completions')]);
    const calls = Array.from({ length: 200 }, () =>
      relay.post('/v1/chat/completions', caller.key, aRequest('chat-completions', { model: 'fee' })),
    );
    // A refused call answers at once; the others wait for the gate.
    await eventually(() => expect(relay.upstream.requests.length).toBe(50), 20_000);
    await eventually(async () => expect(await relay.calls(caller)).toHaveLength(150), 20_000);
    expect(await relay.wallet(caller)).toEqual({ balance: '1', held: '1', holds: 50 });
    allAdmitted.open();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(150);
    expect(await relay.wallet(caller)).toEqual({ balance: '0', held: '0', holds: 0 });
    const rows = await relay.calls(caller);
    expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(50);
    expect(rows.filter((row) => row['error_reason'] === 'insufficient quota')).toHaveLength(150);
    expect(await relay.ledger()).toEqual(EXACT);
  });

  // A Messages call always has a limit: here the model's own, of which a stream holds no more than of any other.
  it.each([
    ['chat-completions', {}],
    ['chat-completions', { stream: true }],
    ['responses', {}],
    ['responses', { stream: true }],
    ['messages', { stream: true, max_tokens: 128_000 }],
  ] as const)(
    'answers all of 8 parallel calls without a limit that $2 can pay for: %s %j',
    async (protocol, options) => {
      const caller = await relay.caller({ credit: '2' });
      const allAdmitted = gate();
      // 1,000 × $1/M + 600 × $15/M = $0.01, where 128,000 × $15/M would be $1.92.
      relay.upstream.script([waitFor(allAdmitted), responseIn(protocol, { usage: { prompt: 1000, completion: 600 } })]);
      const body = aRequest(protocol, { model: 'talker', ...options });
      const calls = Array.from({ length: 8 }, () => relay.post(PATHS[protocol], caller.key, body));
      await eventually(() => expect(relay.upstream.requests).toHaveLength(8), TIMEOUT_MS);
      expect(await relay.wallet(caller)).toMatchObject({ balance: '2', holds: 8 });
      allAdmitted.open();
      for (const response of await Promise.all(calls)) {
        expect(response.status).toBe(200);
        await response.text();
      }
      const rows = await relay.calls(caller);
      expect(rows.map(({ status, ...row }) => [status, row['cost']])).toEqual(
        Array.from({ length: 8 }, () => ['succeeded', '10000000']),
      );
      expect(await relay.wallet(caller)).toEqual({ balance: '1.92', held: '0', holds: 0 });
      expect(await relay.ledger()).toEqual(EXACT);
    },
  );

  it.each(PROTOCOLS)(
    'charges what the upstream reports, streamed or not, and logs it under the id of the response: %s',
    async (protocol) => {
      for (const stream of [false, true]) {
        const caller = await relay.caller();
        relay.upstream.script(
          responseIn(protocol, { usage: { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 50 } }),
        );
        const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { stream }));
        await response.text();
        // 600 × $1/M + 400 × $0.1/M + 200 × $10/M = $0.00264. Settled before the end was sent: no waiting here.
        const [row] = await relay.calls(caller);
        expect(row).toMatchObject({
          id: response.headers.get('x-request-id'),
          status: 'succeeded',
          cost: '2640000',
          billing_basis: 'reported',
          prompt_tokens: '1000',
          cached_tokens: '400',
          completion_tokens: '200',
          stream,
          protocol,
          upstream_protocol: protocol,
          channel: `${protocol}-main`,
          attempts: 1,
        });
        expect(row?.['first_token_ms'] === null).toBe(!stream);
        expect(await relay.wallet(caller)).toMatchObject({ balance: '9.99736', held: '0' });
        expect(await relay.attempts(row?.id ?? '')).toMatchObject([
          { ordinal: 1, channel: `${protocol}-main`, upstream_status: 200, outcome: 'succeeded' },
        ]);
      }
      expect(await relay.ledger()).toEqual(EXACT);
    },
  );

  it('bills under the group of the key', async () => {
    const caller = await relay.caller({ group: 'saver' });
    relay.upstream.script(responseIn('responses', { usage: { prompt: 1000, completion: 100 } }));
    await (await relay.post('/v1/responses', caller.key, aRequest('responses'))).text();
    // (1,000 × $1/M + 100 × $10/M) × 0.8
    expect(await relay.onlyCall(caller)).toMatchObject({ group_name: 'saver', cost: '1600000' });
  });

  it.each([
    ['chat-completions', 'max_completion_tokens'],
    ['messages', 'max_tokens'],
    ['responses', 'max_output_tokens'],
  ] as const)(
    'sends the limit that a small wallet can pay to %s, changes nothing else, and says so',
    async (protocol, field) => {
      const caller = await relay.caller({ credit: '0.001' });
      const request = { ...aRequest(protocol, { big: 1 }), [field]: 5000 };
      // A number that no parser of ours may touch.
      const body = JSON.stringify(request, undefined, 1).replace('"big": 1', '"big": 9007199254740993.0');
      const response = await relay.post(PATHS[protocol], caller.key, body);
      expect(response.status).toBe(200);
      // $0.001 less the prompt ($1 per million, a token a byte at most) buys just under 100 tokens at $10 per million.
      const limit = Number(response.headers.get('x-relay-output-limit'));
      expect(limit).toBeGreaterThanOrEqual(Math.floor((1000 - Buffer.byteLength(body)) / 10));
      expect(limit).toBeLessThan(100);
      const sent = (await relay.upstream.nextRequest()).body.toString();
      expect(sent).toBe(body.replace('"m"', '"vendor-m-2026"').replace('5000', String(limit)));
    },
  );

  it('refuses a key whose quota is used up, and names the quota', async () => {
    const caller = await relay.caller({ quota: '0.000001' });
    const response = await relay.post('/v1/responses', caller.key, aRequest('responses'));
    expect(response.status).toBe(429);
    expect(response.headers.get('x-should-retry')).toBe('false');
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toMatch(/^insufficient quota: the quota of the key “test key” has \$0\.000001 left/);
    expect(relay.upstream.requests).toHaveLength(0);
  });

  it.each(PROTOCOLS)('gives back the hold of a call that the upstream refused: %s', async (protocol) => {
    const caller = await relay.caller();
    relay.upstream.script(errorResponse(protocol, 400));
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol));
    expect(response.status).toBe(400);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'free', cost: '0' });
    expect(await relay.wallet(caller)).toEqual({ balance: '10', held: '0', holds: 0 });
  });
});
