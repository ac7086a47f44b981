import { CatalogExport, ChannelChanges } from '../../src/catalog/channels/index.js';
import { compactCredential } from '../../src/catalog/channels/service-account.js';
import { GoogleTokens } from '../../src/relay/upstream/google-tokens.js';
import { channelFields, fieldsSentTo } from '../support/channel-pages.js';
import { type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { errorResponse, responseIn } from '../support/scripted-upstream.js';
import { ACCOUNT_EMAIL, aKeyFile, KEY_LINE, TokenService } from '../support/token-service.js';

const MODEL = 'gemini-3.8-flash';
const ADD = '/admin/models/add';

describe('channels with a Google service account', () => {
  let relay: RelayApp;
  let tokens: TokenService;
  let operator: OperatorVisit;

  beforeEach(async () => {
    [relay, tokens] = await Promise.all([
      RelayApp.startEmpty({}, { VERTEX_KEY: aKeyFile(), BROKEN_KEY: '{ "type": "service_account" }' }),
      TokenService.start(),
    ]);
    Object.assign(relay.get(GoogleTokens), { endpoint: new URL(tokens.url) });
    operator = await operatorVisit(relay);
  });
  afterEach(async () => {
    await relay.close();
    await tokens.close();
  });

  const apply = (credential: string) =>
    relay.applyCatalog(`
models:
  - { name: ${MODEL}, context_window: 1000000, max_output_tokens: 65536, prices: free }
channels:
  - { name: vertex, protocol: gemini, base_url: "${relay.upstream.url}", credentials: [${credential}], models: [${MODEL}] }
`);
  const ask = async () => {
    const { key } = await relay.caller();
    return relay.post('/v1/chat/completions', key, { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] });
  };
  const channel = async () => (await relay.get(ChannelChanges).all())[0]!;
  const authorizations = () => relay.upstream.requests.map(({ headers }) => headers['authorization']);

  it.each([
    ['a mapping', aKeyFile().replaceAll('\n', ' ')],
    ['text', `'${compactCredential(aKeyFile())}'`],
    ['a variable', 'env:VERTEX_KEY'],
  ])('are called with an access token when the catalog file has the key file as %s', async (_, credential) => {
    await apply(credential);
    relay.upstream.script(responseIn('gemini', { text: 'Snow.' }));
    expect(await (await ask()).text()).toContain('Snow.');
    await ask();
    expect(authorizations()).toEqual(['Bearer ya29.test-1', 'Bearer ya29.test-1']);
    expect(relay.upstream.requests.some(({ headers }) => 'x-goog-api-key' in headers)).toBe(false);
    expect(tokens.requests).toHaveLength(1);
  });

  it('keep the stored key file when the exported catalog is applied', async () => {
    await apply(aKeyFile().replaceAll('\n', ' '));
    const exported = await relay.get(CatalogExport).export();
    expect(exported.text).not.toContain(KEY_LINE.slice(0, 20));
    for (const text of [exported.text, exported.withSecrets()]) expect(await relay.applyCatalog(text)).toEqual([]);
    expect(await channel()).toMatchObject({ credentials: [{ serviceAccount: ACCOUNT_EMAIL, unreadable: false }] });
  });

  it('send a call again when an access token was revoked, as one attempt', async () => {
    await apply('env:VERTEX_KEY');
    await ask();
    relay.upstream.scriptNext(errorResponse('chat-completions', 401), responseIn('gemini', { text: 'Snow.' }));
    const caller = await relay.caller();
    const request = { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] };
    const response = await relay.post('/v1/chat/completions', caller.key, request);
    expect(await response.text()).toContain('Snow.');
    expect(authorizations()).toEqual(['Bearer ya29.test-1', 'Bearer ya29.test-1', 'Bearer ya29.test-2']);
    const { id } = await relay.onlyCall(caller);
    expect(await relay.attempts(id)).toHaveLength(1);
  });

  it('are unavailable when the variable has no valid key file', async () => {
    await apply('env:BROKEN_KEY');
    expect((await ask()).status).toBe(503);
    const { text } = await operator.browser.get('/admin/channels');
    expect(text).toContain('has no valid client_email');
    expect(tokens.requests).toEqual([]);
  });

  it('are added with the project of the key file, which is never shown', async () => {
    await operator.browser.get(ADD);
    const fields = { provider: 'vertex', secret: aKeyFile().replaceAll('\n', ''), 'vertex-models': MODEL };
    const page = await operator.browser.post(ADD, { ...fields, 'vertex-location': 'europe-west4' });
    const sent = fieldsSentTo(ADD, page);
    expect(sent['vertex-project']).toBe('house-project');
    const costs = { asked: MODEL, askedContext: '1000000', askedInput: '1', askedOutput: '2' };
    const added = await operator.browser.post(ADD, { ...sent, ...costs, model: MODEL, _unchecked: 'yes' });
    expect(added.location).toBe('/admin/models');
    const { id, baseUrl } = await channel();
    expect(baseUrl).toBe(
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/house-project/locations/europe-west4/publishers/google',
    );
    const form = await operator.browser.get(`/admin/channels/${id}`);
    expect(form.text).toContain(`Service account ${ACCOUNT_EMAIL}.`);
    for (const { text } of [page, form]) expect(text).not.toContain(KEY_LINE.slice(0, 20));
  });

  it('are rejected beside the field when the key file is invalid', async () => {
    const invalid = aKeyFile({ token_uri: 'https://token.evil.test/' });
    const message =
      'Enter a valid service account key: credential 1 must have the token_uri https://oauth2.googleapis.com/token.';
    const errorIn = ({ text }: PageResponse) => /id="secret-error">[^]*?<span>([^<]*)/.exec(text)?.[1];
    await operator.browser.get(ADD);
    const add = await operator.browser.post(ADD, { provider: 'vertex', secret: invalid, 'vertex-models': MODEL });
    expect([add.status, errorIn(add)]).toEqual([422, message]);

    await apply('env:VERTEX_KEY');
    const path = `/admin/channels/${(await channel()).id}`;
    const fields = channelFields(await operator.browser.get(path));
    for (const act of [{}, { _act: 'check' }]) {
      const refused = await operator.browser.post(path, { ...fields, secret: invalid, ...act });
      expect([refused.status, errorIn(refused)]).toEqual([422, message]);
      expect(refused.text).not.toContain(KEY_LINE.slice(0, 20));
    }
    expect(tokens.requests).toEqual([]);
  });

  it('show administrators why the token service refused', async () => {
    await apply('env:VERTEX_KEY');
    const body = { error: 'invalid_grant', error_description: 'Invalid grant: account not found' };
    tokens.respondNext({ status: 400, body }, { status: 400, body }, { status: 400, body });
    const path = `/admin/channels/${(await channel()).id}`;
    const fields = channelFields(await operator.browser.get(path));
    const checked = await operator.browser.post(path, { ...fields, _act: 'check' });
    expect(checked.text).toContain('status 400: invalid_grant: Invalid grant: account not found');
    const response = await ask();
    expect([response.status, (await response.text()).includes('account not found')]).toEqual([502, false]);
  });
});
