import { ApiKeyService, KeyDirectory } from '../../src/keys/index.js';
import { nanos } from '../../src/platform/shared/index.js';
import { DataSource } from 'typeorm';
import { fieldsSentTo } from '../support/channel-pages.js';
import { eventually } from '../support/eventually.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { PROTOCOLS } from '../support/protocols.js';
import { catalogWithGemini, RelayApp, type TestCaller } from '../support/relay-app.js';
import { defaultResponse } from '../support/scripted-default.js';
import { hang, waitFor } from '../support/scripted-steps.js';
import { signedIn } from '../support/signed-in.js';

const EVENTS = { accept: 'text/event-stream' };
const PROMPT = 'What nobody else may read';
const OFFERED: readonly string[] = [...PROTOCOLS, 'gemini'];

const fieldsFor = ({ keyId }: TestCaller, fields: Record<string, string> = {}): Record<string, string> => ({
  key: keyId,
  model: 'm',
  protocol: 'responses',
  instructions: '',
  message: PROMPT,
  limit: '100',
  tools: '',
  schema: '',
  ...fields,
});

describe('the playground', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let browser: PageVisitor;

  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalogWithGemini(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    caller = await relay.caller();
    browser = await signedIn(relay, caller.accountId);
    await browser.get('/playground');
  });

  const chargeOf = async (id: string): Promise<string> =>
    /Charged (\$[\d.]+)/.exec((await browser.get(`/playground/calls/${id}`)).text)?.[1] ?? '';

  it('offers keys with little left last', async () => {
    const keys = relay.get(ApiKeyService);
    const { id } = await keys.create({ accountId: caller.accountId, name: 'almost used', quota: nanos(1_000_000n) });
    const options = async () => [...(await browser.get('/playground')).text.matchAll(/<option value="(key_\w+)"/g)];
    expect((await options()).map(([, key]) => key)).toEqual([id, caller.keyId]);
    await relay.get(DataSource).query('UPDATE api_keys SET used = 999999 WHERE id = $1', [id]);
    expect((await options()).map(([, key]) => key)).toEqual([caller.keyId, id]);
  });

  it.each(OFFERED)('streams a call in %s, which is charged and logged like any other', async (protocol) => {
    const fields = fieldsFor(caller, { protocol });
    const before = await browser.post('/playground/preview', fields);
    const hold = /Holds \$([\d.]+)/.exec(before.text)?.[1];
    const response = await browser.post('/playground/stream', fields, EVENTS);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('event-stream'),
    ]);
    const call = await relay.onlyCall(caller);
    expect(call).toMatchObject({ key_id: caller.keyId, model: 'm', protocol, stream: true, status: 'succeeded' });
    expect(response.headers.get('x-request-id')).toBe(call.id);
    expect(Number(await chargeOf(call.id).then((text) => text.slice(1)))).toBe(Number(call['cost']) / 1e9);
    expect(Number(hold)).toBeGreaterThan(Number(call['cost']) / 1e9);
    const { path, json } = relay.upstream.requests.at(-1)!;
    expect(protocol === 'gemini' ? path : json['stream']).toEqual(
      protocol === 'gemini' ? expect.stringContaining(':streamGenerateContent') : true,
    );
  });

  it.each(OFFERED)('shows the complete response in %s to browsers without script', async (protocol) => {
    const page = await browser.post('/playground', fieldsFor(caller, { protocol }));
    const call = await relay.onlyCall(caller);
    expect(call).toMatchObject({ protocol, stream: false, status: 'succeeded' });
    expect(page.text).toMatch(/id="output"[^>]*>[^<]+</);
    expect(page.text).toContain(`Charged ${await chargeOf(call.id)}`);
    expect(page.text).toContain(PROMPT);
  });

  it('holds exactly the amount that it showed before', async () => {
    const fields = fieldsFor(caller);
    const hold = /Holds \$([\d.]+)/.exec((await browser.post('/playground/preview', fields)).text)?.[1];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    relay.upstream.scriptNext([waitFor(() => released), defaultResponse]);
    const stream = browser.post('/playground/stream', fields, EVENTS);
    const held = await eventually(async () => {
      const { held: amount } = await relay.wallet(caller);
      if (amount === '0') throw new Error('Nothing is held yet.');
      return amount;
    });
    release();
    await stream;
    expect(Number(held)).toBe(Number(hold));
  });

  it('cancels the call when a browser without script leaves', async () => {
    const before = relay.upstream.requests.length;
    relay.upstream.scriptNext(hang());
    const leave = new AbortController();
    const page = fetch(`${relay.url}/playground`, {
      method: 'POST',
      body: new URLSearchParams({ _csrf: browser.csrf, ...fieldsFor(caller) }),
      headers: { accept: 'text/html', cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') },
      signal: leave.signal,
    }).catch(() => undefined);
    await eventually(() => expect(relay.upstream.requests.length).toBe(before + 1));
    leave.abort();
    await page;
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'cancelled', error_reason: 'context canceled' });
  });

  it('carries the conversation in the form, without script', async () => {
    const first = await browser.post('/playground', fieldsFor(caller, { message: 'First' }));
    const { turns = '', message } = fieldsSentTo('/playground', first);
    const [asked, answered, ...others] = JSON.parse(String(turns)) as { role: string; content: string }[];
    expect([asked, answered?.role, others, message]).toEqual([{ role: 'user', content: 'First' }, 'assistant', [], '']);
    await browser.post('/playground', fieldsFor(caller, { message: 'Second', turns: String(turns) }));
    expect(relay.upstream.requests.at(-1)?.json['input']).toEqual([
      expect.objectContaining({ role: 'user', content: 'First' }),
      expect.objectContaining({ role: 'assistant', content: answered?.content }),
      expect.objectContaining({ role: 'user', content: 'Second' }),
    ]);
  });

  it('stores nothing of the request, and tells the upstream not to', async () => {
    await browser.post('/playground/stream', fieldsFor(caller), EVENTS);
    expect(relay.upstream.requests.at(-1)?.json['store']).toBe(false);
    const [{ found }] = await relay
      .get(DataSource)
      .query<[{ found: boolean }]>('SELECT EXISTS (SELECT FROM stored_answers WHERE account_id = $1) AS found', [
        caller.accountId,
      ]);
    expect(found).toBe(false);
  });

  it('sends tools and schema in the form of the protocol, and shows them as code', async () => {
    const tool = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };
    const fields = { tools: JSON.stringify([tool]), schema: '{"type": "object"}', protocol: 'messages' };
    const page = await browser.post('/playground/preview', fieldsFor(caller, fields));
    expect(page.text).toContain('client.messages.create(');
    await browser.post('/playground/stream', fieldsFor(caller, fields), EVENTS);
    expect(relay.upstream.requests.at(-1)?.json).toMatchObject({
      tools: [{ name: 'weather', input_schema: tool.parameters }],
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
  });

  it('rejects what cannot be sent, naming the field', async () => {
    const page = await browser.post('/playground', fieldsFor(caller, { message: ' ', tools: '{' }));
    expect(page.status).toBe(422);
    expect(page.text).toContain('Enter a message.');
    expect(page.text).toContain('Enter a JSON list of functions');
    expect((await browser.post('/playground/stream', fieldsFor(caller, { message: '' }), EVENTS)).status).toBe(400);
    expect(await relay.calls(caller)).toEqual([]);
  });

  it('obeys the limits of the key, and records what was rejected', async () => {
    const { id } = await relay.get(ApiKeyService).create({
      accountId: caller.accountId,
      name: 'elsewhere',
      networks: ['203.0.113.0/24'],
    });
    const elsewhere = await browser.post('/playground/stream', fieldsFor({ ...caller, keyId: id }), EVENTS);
    expect([elsewhere.status, elsewhere.text]).toEqual([403, expect.stringContaining('is not allowed for this key')]);
    expect(await relay.onlyCall(caller)).toMatchObject({ key_id: id, status: 'refused' });
    const page = await browser.post('/playground', fieldsFor(caller, { model: 'nothing' }));
    expect(page.text).toContain('The call failed');
    expect(page.text).toContain('does not exist');
  });

  it('cannot be paid by the key of somebody else, nor used without the form token', async () => {
    const other = await relay.caller();
    const response = await browser.post('/playground/stream', fieldsFor(other), EVENTS);
    expect(response.status).toBe(404);
    expect(await relay.calls(other)).toEqual([]);
    browser.csrf = 'x';
    expect((await browser.post('/playground/stream', fieldsFor(caller), EVENTS)).status).toBe(403);
    expect(await relay.calls(caller)).toEqual([]);
  });

  it('says what is missing when there is no key', async () => {
    await relay.get(DataSource).query(`UPDATE api_keys SET state = 'disabled' WHERE id = $1`, [caller.keyId]);
    relay.get(KeyDirectory).forget(caller.keyId);
    expect((await browser.get('/playground')).text).toContain('No API key yet');
  });
});
