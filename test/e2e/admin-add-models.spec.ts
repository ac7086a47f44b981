import { DataSource } from 'typeorm';
import { PROVIDERS } from '../../src/catalog/index.js';
import { CatalogInventory, ChannelChanges } from '../../src/catalog/channels/index.js';
import { VENDORS } from '../conformance/protocols/index.js';
import { fieldsSentTo } from '../support/channel-pages.js';
import { forgetSignIn, OPERATOR_PASSWORD, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { errorResponse, jsonAnswer } from '../support/scripted-upstream.js';

const PATH = '/admin/models/add';
const KEY = 'sk-typed-into-add-models-3Kq9';
/** A model of each provider. */
const MODELS: Readonly<Record<string, string>> = {
  openai: 'gpt-5.4-mini',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-3.8-flash',
  'google-interactions': 'gemini-3.8-flash',
  openrouter: 'anthropic/claude-haiku-4.5',
  azure: 'gpt-5.4-mini',
  bedrock: 'openai.gpt-oss-120b',
  'bedrock-claude': 'anthropic.claude-sonnet-5',
  vertex: 'gemini-3.8-flash',
  mistral: 'mistral-large-latest',
  deepseek: 'deepseek-chat',
  groq: 'llama-3.3-70b-versatile',
  xai: 'grok-4',
  ollama: 'gpt-oss:20b',
  other: 'house-model',
};
/** Two models of the price book, and two that it does not know. */
const LISTED = ['gpt-5.5', 'gpt-5.4-mini', 'house-model', 'other-model'];

/** The header that carries a provider's key. */
function credentialOf(id: string, protocol: string): readonly [string, string] {
  if (id === 'azure') return ['api-key', KEY];
  if (['gemini', 'interactions'].includes(protocol)) return ['x-goog-api-key', KEY];
  return id === 'anthropic' ? ['x-api-key', KEY] : ['authorization', `Bearer ${KEY}`];
}

describe('adding models of a provider', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;

  beforeEach(async () => {
    relay = await RelayApp.startEmpty();
    operator = await operatorVisit(relay);
  });
  afterEach(() => relay.close());

  const list = (names: readonly string[] = LISTED) =>
    jsonAnswer(200, { object: 'list', data: names.map((id) => ({ id, object: 'model' })) });
  const connect = async (fields: Record<string, string> = {}): Promise<PageResponse> => {
    await operator.browser.get(PATH);
    return operator.browser.post(PATH, { provider: 'openai', secret: KEY, baseUrl: relay.upstream.url, ...fields });
  };
  const choose = (page: PageResponse, fields: Record<string, string | string[]>): Promise<PageResponse> => {
    const { model: _, ...sent } = fieldsSentTo(PATH, page);
    return operator.browser.post(PATH, { ...sent, ...fields });
  };
  /** A definition and what the channel pays for it. */
  const stored = async (name: string) => {
    const { thing } = await relay.get(CatalogInventory).model(name);
    return thing.definition;
  };
  const channels = () => relay.get(ChannelChanges).all();

  it('creates the channel and its models with list prices, and offers them to the default group', async () => {
    relay.upstream.scriptNext(list(), list());
    const page = await connect();
    expect(page.text).toContain('$5.00 in, $30.00 out');
    expect(page.text).toContain('List price of OpenAI, more from 272,000 tokens');
    expect(page.text).not.toContain(KEY);
    const added = await choose(page, { model: ['gpt-5.5', 'gpt-5.4-mini'] });
    expect(added.location).toBe('/admin/models');
    expect((await operator.browser.follow(added)).text).toContain('2 models added');

    const [channel, ...others] = await channels();
    expect(others).toEqual([]);
    expect(channel).toMatchObject({
      name: 'OpenAI',
      protocol: 'responses',
      models: { 'gpt-5.5': ['gpt-5.5'], 'gpt-5.4-mini': ['gpt-5.4-mini'] },
      groups: ['default'],
      credentials: [{ ending: '3Kq9' }],
    });
    expect(await stored('gpt-5.5')).toMatchObject({
      displayName: 'GPT-5.5',
      contextWindow: 1_000_000,
      maxOutputTokens: 128_000,
      groups: ['default'],
      capabilities: { vision: true, tools: true, reasoning: true, samplingFixed: true },
      pricing: {
        tiers: [
          { from_prompt_tokens: 0, input: '5', cache_read: '0.5', output: '30' },
          { from_prompt_tokens: 272_000, input: '10', cache_read: '1', output: '45' },
        ],
      },
    });
    const { key } = await relay.caller();
    const response = await relay.post('/v1/chat/completions', key, {
      model: 'gpt-5.5',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(response.status).toBe(200);
    const rows = await relay
      .get(DataSource)
      .query<{ cost: string; upstream_cost: string }[]>('SELECT cost, upstream_cost FROM calls');
    expect(rows.map(({ cost }) => Number(cost) > 0)).toEqual([true]);
    expect(rows[0]?.upstream_cost).toBe(rows[0]?.cost);
    const audit = await relay
      .get(DataSource)
      .query<object[]>(
        `SELECT object_name AS name, action FROM audit_entries WHERE object_kind IN ('model', 'channel') ORDER BY 1`,
      );
    expect(audit).toEqual(['OpenAI', 'gpt-5.4-mini', 'gpt-5.5'].map((name) => ({ name, action: 'added' })));
  });

  it('asks for the price and the context window that it does not know, and never assumes 0', async () => {
    relay.upstream.script(list());
    const page = await connect();
    const refused = await choose(page, { model: 'house-model' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Enter the input price of house-model in dollars per million tokens');
    expect(refused.text).toContain('Enter the context window of house-model in tokens');
    expect(refused.text).not.toContain('Enter the input price of other-model');
    expect(await channels()).toEqual([]);
    relay.upstream.reset();
    relay.upstream.scriptNext(list(), list());
    const again = await choose(await connect(), {
      model: 'house-model',
      asked: ['house-model', 'other-model'],
      askedContext: ['128,000', ''],
      askedInput: ['0.25', ''],
      askedOutput: ['$1', ''],
    });
    expect(again.location).toBe('/admin/models');
    expect(await stored('house-model')).toMatchObject({
      contextWindow: 128_000,
      maxOutputTokens: 32_768,
      pricing: { tiers: [{ from_prompt_tokens: 0, input: '0.25', output: '1' }] },
    });
    expect((await channels())[0]?.costs).toEqual({});
  });

  it('saves nothing when the check fails, unless the administrator says so', async () => {
    relay.upstream.scriptNext(list(), list(), errorResponse('responses', 401));
    const failed = await choose(await connect(), { model: 'gpt-5.5' });
    expect(failed.text).toContain('The check failed, and nothing was saved');
    expect(await channels()).toEqual([]);
    relay.upstream.scriptNext(list());
    const added = await choose(failed, { model: 'gpt-5.5', _unchecked: 'yes' });
    expect(added.location).toBe('/admin/models');
    expect(await channels()).toHaveLength(1);
  });

  it('shows why the list could not be read, and what is missing', async () => {
    const wrong = await (relay.upstream.scriptNext(errorResponse('responses', 401)), connect());
    expect([wrong.status, wrong.text.includes('Could not list the models. 401: ')]).toEqual([422, true]);
    expect((await connect({ secret: '' })).text).toContain('Enter an API key of OpenAI.');
    expect((await connect({ provider: 'other', baseUrl: '' })).text).toContain('Enter the base URL, such as');
    expect((await connect({ baseUrl: 'nowhere' })).text).toContain('The base URL must start with http');
    const local = await (relay.upstream.scriptNext(list(['gpt-oss:20b'])), connect({ provider: 'ollama', secret: '' }));
    expect(local.text).toContain('Free');
  });

  it.each(PROVIDERS)('connects to $label by its own protocol', async ({ id, label, protocol, typedModels }) => {
    const name = MODELS[id]!;
    const { listing } = VENDORS.find((vendor) => vendor.id === protocol)!;
    const names = () => jsonAnswer(200, listing!.body([name]));
    if (typedModels === undefined) relay.upstream.scriptNext(names(), names());
    const secret = id === 'ollama' ? '' : KEY;
    const page = await connect({ provider: id, secret, [`${id}-models`]: name });
    const added = await choose(page, {
      model: name,
      asked: name,
      askedContext: '128000',
      askedInput: '1',
      askedOutput: '2',
    });
    expect(added.location).toBe('/admin/models');
    expect(await channels()).toMatchObject([{ name: label, protocol, models: { [name]: [name] } }]);
    expect((await stored(name))?.pricing.free).toBe(id === 'ollama');
    const { key } = await relay.caller();
    const response = await relay.post('/v1/chat/completions', key, {
      model: name,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(response.status).toBe(200);
    const request = relay.upstream.requests.at(-1)!;
    expect(request.protocol).toBe(protocol);
    const [header, value] = credentialOf(id, protocol);
    expect(request.headers[header]).toBe(secret === '' ? undefined : value);
  });

  it.each([
    ['azure', { 'azure-resource': 'house' }, 'https://house.openai.azure.com/openai/v1'],
    [
      'bedrock-claude',
      { 'bedrock-claude-region': 'eu-central-1' },
      'https://bedrock-mantle.eu-central-1.api.aws/anthropic/v1',
    ],
    ['vertex', {}, 'https://aiplatform.googleapis.com/v1/publishers/google'],
  ])('builds the base URL of %s from its fields', async (provider, fields, url) => {
    const name = MODELS[provider]!;
    const page = await connect({ provider, baseUrl: '', [`${provider}-models`]: `${name}\nhouse-model`, ...fields });
    expect(fieldsSentTo(PATH, page)['model']).toEqual([name, 'house-model']);
    const costs = { asked: name, askedContext: '128000', askedInput: '1', askedOutput: '2' };
    const added = await choose(page, { model: name, ...costs, _unchecked: 'yes' });
    expect(added.location).toBe('/admin/models');
    expect(await channels()).toMatchObject([{ baseUrl: url }]);
  });

  it('asks for what a cloud provider needs', async () => {
    const azure = await connect({ provider: 'azure', baseUrl: '', 'azure-resource': 'house.evil.test' });
    expect(azure.status).toBe(422);
    expect(azure.text).toContain('Enter the resource name: letters, digits and hyphens.');
    expect(azure.text).toContain('Enter the deployment names, one per line.');
    const bedrock = await connect({ provider: 'bedrock', baseUrl: '', 'bedrock-region': '' });
    expect(bedrock.text).toContain('Enter an AWS region, such as eu-central-1.');
    expect(relay.upstream.requests).toEqual([]);
  });

  it('leaves out models of Bedrock that its OpenAI-compatible endpoint does not serve', async () => {
    relay.upstream.scriptNext(list(['openai.gpt-oss-120b', 'anthropic.claude-sonnet-5']));
    const { text } = await connect({ provider: 'bedrock' });
    expect(text).toContain('openai.gpt-oss-120b');
    expect(text).not.toContain('value="anthropic.claude-sonnet-5"');
  });

  it('filters a long list and ticks what is shown, without losing what was ticked or typed', async () => {
    const names = ['gpt-5.5', 'gpt-5.4-mini', 'gpt-4.1', 'house-model'];
    relay.upstream.script(list(names));
    const modelsIn = (page: PageResponse) => [fieldsSentTo(PATH, page)['model'] ?? []].flat();
    const hiddenIn = ({ text }: PageResponse) =>
      [...text.matchAll(/<tr[^>]* data-name="([^"]*)" hidden>/g)].map(([, name]) => name);
    const filtered = await choose(await connect(), {
      model: 'gpt-4.1',
      asked: 'house-model',
      askedContext: '128000',
      askedInput: '0.25',
      askedOutput: '1',
      _filter: 'GPT-5',
      _act: 'filter',
    });
    expect(filtered.text).toContain('2 shown');
    expect(new Set(hiddenIn(filtered))).toEqual(new Set(['gpt-4.1', 'house-model']));
    const all = await choose(filtered, { model: modelsIn(filtered), _act: 'all:priced' });
    expect(modelsIn(all)).toEqual(['gpt-4.1', 'gpt-5.4-mini', 'gpt-5.5']);
    expect(fieldsSentTo(PATH, all)).toMatchObject({ asked: 'house-model', askedInput: '0.25' });
    const none = await choose(all, { model: modelsIn(all), _act: 'none:priced' });
    expect(modelsIn(none)).toEqual(['gpt-4.1']);
    expect(await channels()).toEqual([]);
  });

  it('keeps models that exist, and serves them as well', async () => {
    relay.upstream.scriptNext(list(), list());
    await choose(await connect(), { model: 'gpt-5.5' });
    const before = await stored('gpt-5.5');
    relay.upstream.reset();
    relay.upstream.scriptNext(list(), list());
    const page = await connect();
    expect(page.text).toContain('Already in the catalog');
    await choose(page, { model: ['gpt-5.5', 'gpt-5.4-mini'] });
    expect(await stored('gpt-5.5')).toEqual(before);
    expect((await channels()).map(({ name, models }) => [name, Object.keys(models).length])).toEqual([
      ['OpenAI', 1],
      ['OpenAI 2', 2],
    ]);
  });

  it('asks for the password before it saves when the sign-in is not recent', async () => {
    relay.upstream.script(list());
    const page = await connect();
    await forgetSignIn(relay, operator.accountId);
    const refused = await choose(page, { model: 'gpt-5.5' });
    expect([refused.status, refused.text.includes('Enter your password')]).toEqual([422, true]);
    expect(await channels()).toEqual([]);
    relay.upstream.reset();
    relay.upstream.scriptNext(list());
    const added = await choose(page, { model: 'gpt-5.5', password: OPERATOR_PASSWORD });
    expect(added.location).toBe('/admin/models');
  });
});
