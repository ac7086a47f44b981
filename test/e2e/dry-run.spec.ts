import { DataSource } from 'typeorm';
import { AccountStatus } from '../../src/auth/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { DryRun, type DryRunResult, type DryRunInput } from '../../src/relay/index.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { type CallerOptions, RelayApp, type TestCaller } from '../support/relay-app.js';
import { type ProtocolEndpoint, gate, waitFor } from '../support/scripted-upstream.js';

/** `routed` can be had in every protocol, one after the other; `tired` has nobody that is switched on for `default`. */
const routes = (baseUrl: string): string => `
models:
  - { name: routed, context_window: 200000, max_output_tokens: 64000, groups: [default, saver],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }], effort_multipliers: { high: 2 } }
  - { name: tired, context_window: 200000, max_output_tokens: 64000, groups: [default, saver], prices: free }
channels:
  - { name: behind, protocol: responses, base_url: "${baseUrl}", credentials: [b], tier: 3, models: { routed: r-behind } }
  - { name: foreign, protocol: messages, base_url: "${baseUrl}", credentials: [f], tier: 2, models: { routed: r-foreign } }
  - { name: strict, protocol: chat-completions, base_url: "${baseUrl}", credentials: [s], tier: 1,
      flags: { nativeOnly: true }, models: { routed: r-strict } }
  - { name: savers, protocol: responses, base_url: "${baseUrl}", credentials: [s], tier: 1, groups: [saver],
      models: { routed: r-savers, tired: t-savers } }
`;

describe('the routing dry run', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(routes(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(() => relay.upstream.reset());

  const dryRun = async (caller: TestCaller, question: Partial<DryRunInput> = {}): Promise<DryRunResult> => {
    const usual = { model: 'routed', protocol: 'responses', stream: false, effort: undefined, outputLimit: undefined };
    const requested = { ...usual, promptTokens: 100, who: { keyId: caller.keyId }, ...question };
    return (await relay.get(DryRun).of(requested))!;
  };
  const call = (caller: TestCaller, protocol: ProtocolEndpoint, model: string): Promise<Response> =>
    relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model }));

  describe.each<[string, CallerOptions, ProtocolEndpoint, string]>([
    ['a call in the protocol of a channel', {}, 'chat-completions', 'routed'],
    ['a call that is translated', {}, 'messages', 'routed'],
    ['a call whose own protocol comes later', {}, 'responses', 'routed'],
    ['a call in the group of the account', { group: 'saver' }, 'responses', 'routed'],
    ['a model that the key may not use', { models: ['free'] }, 'responses', 'routed'],
    ['a model that is not there', {}, 'responses', 'unheard-of'],
    ['a model that no channel of the group serves', {}, 'messages', 'tired'],
    ['a model that is called in one protocol alone', {}, 'messages', 'only-chat'],
    ['an empty wallet', { credit: '0' }, 'messages', 'routed'],
    ['a key whose quota is too small', { quota: '0.000001' }, 'messages', 'routed'],
  ])('matches a real call: %s', (_, options, protocol, model) => {
    it('has the same admission result, upstream and model', async () => {
      const caller = await relay.caller(options);
      const reported = await dryRun(caller, { protocol, model });
      await (await call(caller, protocol, model)).text();
      const row = await relay.onlyCall(caller);
      expect(row['status'] === 'succeeded').toBe(reported.refusal === undefined);
      if (reported.refusal !== undefined) {
        // The two requests are not of one length, and what they would cost is in the words of those that lack money.
        const money = /at least \$[\d.]+/;
        expect(String(row['error_message']).replace(money, '')).toBe(reported.refusal.message.replace(money, ''));
        return;
      }
      const [first] = reported.routes;
      const [attempt] = await relay.attempts(row.id);
      expect(attempt).toMatchObject({ channel: first!.channel.name, upstream_model: first!.upstreamModel });
      expect(row['group_name']).toBe(reported.plan!.group.name);
      expect(first!.isTranslated).toBe(first!.channel.protocol !== protocol);
    });
  });

  it('shows the hold of a real call of that size', async () => {
    const caller = await relay.caller();
    const opened = gate();
    relay.upstream.scriptNext([waitFor(opened)]);
    const body = { model: 'routed', stream: true, max_output_tokens: 500, reasoning: { effort: 'high' }, input: '' };
    const text = JSON.stringify({ ...body, input: 'x'.repeat(400 + ((4 - (JSON.stringify(body).length % 4)) % 4)) });
    const question = { stream: true, effort: 'high', outputLimit: 500, promptTokens: text.length / 4 };
    const { money, terms } = await dryRun(caller, question);
    const leaving = new AbortController();
    const response = fetch(`${relay.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: text,
      signal: leaving.signal,
    }).catch(() => undefined);
    const hold = await eventually(async () => {
      const [row] = await relay
        .get(DataSource)
        .query<{ hold: string }[]>('SELECT hold FROM open_calls WHERE account_id = $1', [caller.accountId]);
      return row!.hold;
    });
    // The dry run knows how many tokens there are, admission what they are at most.
    expect(money!.result).toMatchObject({ outcome: 'admitted' });
    expect(Number(money!.result.hold) / Number(hold)).toBeCloseTo(1, 1);
    expect(terms!.effortMultiplier).toBe(2_000_000n);
    // Its request would be seen by the next test otherwise.
    await eventually(() => expect(relay.upstream.requests).toHaveLength(1));
    leaving.abort();
    opened.open();
    await response;
  });

  it('has no side effects', async () => {
    const caller = await relay.caller();
    const { accountId: newKeyOf } = caller;
    const state = async (): Promise<unknown> =>
      relay.get(DataSource).query(
        `SELECT (SELECT jsonb_agg(w) FROM wallets w) AS wallets, (SELECT jsonb_agg(k ORDER BY k.id) FROM api_keys k) AS keys,
                (SELECT count(*) FROM open_calls) AS open, (SELECT count(*) FROM calls) AS calls,
                (SELECT count(*) FROM budgets) AS budgets`,
      );
    await relay.get(ApiKeyService).setBudgets(caller.keyId, { daily: 1_000_000_000n } as never);
    const before = await state();
    for (const who of [{ keyId: caller.keyId }, { newKeyOf }])
      expect((await dryRun(caller, { who })).refusal).toBeUndefined();
    await expect(state()).resolves.toEqual(before);
    expect(relay.upstream.requests).toEqual([]);
  });

  it('shows the error for a disabled key or account, and all other checks as well', async () => {
    const caller = await relay.caller();
    await relay.get(ApiKeyService).disable(caller.keyId);
    const ofKey = await dryRun(caller, { protocol: 'messages' });
    await expect((await call(caller, 'messages', 'routed')).text()).resolves.toContain(ofKey.refusal!.message);
    expect(ofKey).toMatchObject({ money: undefined, modelRefusal: undefined });
    expect(ofKey.routes.map(({ channel: { name } }) => name)).toEqual(['foreign', 'behind']);
    await relay.get(AccountStatus).disable(caller.accountId);
    const ofAccount = await dryRun(caller, { who: { newKeyOf: caller.accountId } });
    expect(ofAccount.refusal!.message).toContain('the account of this API key is suspended');
  });

  it('shows why channels are skipped', async () => {
    const caller = await relay.caller();
    const { outlook } = await dryRun(caller, { protocol: 'messages' });
    expect(outlook.excluded.map(({ channel: { name }, exclusion }) => [name, exclusion.why])).toEqual([
      ['savers', 'other-groups'],
      ['strict', 'native-only'],
    ]);
    await relay.get(DataSource).query(`UPDATE channels SET enabled = false WHERE name = 'behind'`);
    const { outlook: later } = await dryRun(caller, { protocol: 'messages' });
    await relay.get(DataSource).query(`UPDATE channels SET enabled = true WHERE name = 'behind'`);
    expect(later.excluded.map(({ channel: { name }, exclusion }) => [name, exclusion.why])).toContainEqual([
      'behind',
      'switched-off',
    ]);
  });

  it('returns nothing for an unknown key or account', async () => {
    const caller = await relay.caller();
    await expect(dryRun(caller, { who: { keyId: 'key_unknown' } })).resolves.toBeUndefined();
    await expect(dryRun(caller, { who: { newKeyOf: 'acc_unknown' } })).resolves.toBeUndefined();
  });
});
