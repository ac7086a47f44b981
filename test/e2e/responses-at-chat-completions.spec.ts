import { expectError, expectFreeRow, INVALID_REQUEST, MODEL_NOT_FOUND } from '../support/api-errors.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, type JsonObject } from '../support/scripted-upstream.js';

const CHAT = PATHS['chat-completions'];

/** As Cursor posts it to Chat Completions: input, and tools that are flat. */
const MISPOSTED = {
  model: 'm',
  instructions: 'Be brief.',
  input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
  tools: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }],
};

describe('a Responses request that is posted to Chat Completions (case 114)', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => (relay = await RelayApp.start()));
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const post = (body: object | string, path = CHAT): Promise<Response> => relay.post(path, caller.key, body);

  it('goes up as what it is, is recorded so, and is answered in the form of the address', async () => {
    relay.upstream.script(responseIn('responses', { text: 'Good day' }));
    const response = await post(MISPOSTED);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Good day' }, finish_reason: 'stop' }],
    });
    const { path, json } = await relay.upstream.nextRequest();
    expect([path, JSON.stringify(json['input'])]).toEqual([PATHS.responses, expect.stringContaining('"Hello"')]);
    expect(await relay.onlyCall(caller)).toMatchObject({ protocol: 'responses', status: 'succeeded' });
  });

  it('is streamed in that form too, to its marker', async () => {
    relay.upstream.script(responseIn('responses', { text: 'Good day' }));
    const response = await post({ ...MISPOSTED, stream: true });
    const data = (await response.text()).split('\n').flatMap((line) => /^data: (.*)$/.exec(line)?.[1] ?? []);
    expect(data.at(-1)).toBe('[DONE]');
    const chunks = data.slice(0, -1).map((text) => JSON.parse(text) as JsonObject);
    for (const chunk of chunks) expect(chunk).toMatchObject({ object: 'chat.completion.chunk' });
    const said = chunks.map(({ choices }) => (choices as { delta: { content?: string } }[])[0]?.delta.content ?? '');
    expect(said.join('')).toBe('Good day');
  });

  it('is known by its name when it is repeated, as any other', async () => {
    const headers = { 'idempotency-key': 'turn-1' };
    const responses = await Promise.all([1, 2].map(() => relay.post(CHAT, caller.key, MISPOSTED, headers)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(relay.upstream.requests).toHaveLength(1);
  });

  it.each<[string, object, { readonly param: string; readonly code?: string }]>([
    ['of Responses', { ...MISPOSTED, max_output_tokens: 'many' }, { param: 'max_output_tokens' }],
    ['in what it sends instead', { ...MISPOSTED, input: 7 }, { param: 'input' }],
    [
      'by neither having messages nor input',
      { model: 'm', prompt: { id: 'pmpt_1' } },
      { param: 'messages', code: 'missing_required_parameter' },
    ],
    ['in its messages, beside which its input says nothing', { ...MISPOSTED, messages: 'Hi' }, { param: 'messages' }],
  ])('is refused in the form of the address when it is wrong: %s', async (_, body, expected) => {
    const response = await post(body);
    await expectError('chat-completions', response, INVALID_REQUEST, expected);
    await expectFreeRow(relay, caller, response, { status: 'refused', protocol: 'chat-completions' });
    expect(relay.upstream.requests).toHaveLength(0);
  });

  it('is refused in that form for its model, too, as the Responses request that it is', async () => {
    const response = await post({ ...MISPOSTED, model: 'nobody-knows' });
    await expectError('chat-completions', response, MODEL_NOT_FOUND, { param: 'model' });
    await expectFreeRow(relay, caller, response, { protocol: 'responses' });
  });

  it('is read in the same way when it is large, and comes in pieces', async () => {
    const input = `Hello ${'x'.repeat(3_000_000)}`;
    expect((await post({ model: 'free', input })).status).toBe(200);
    expect((await relay.upstream.nextRequest()).body.toString()).toContain(input);
  });

  it('is none when it has messages, whatever else it has', async () => {
    expect((await post(aRequest('chat-completions', { input: 'Hi' }))).status).toBe(200);
    expect((await relay.upstream.nextRequest()).path).toBe(CHAT);
    expect(await relay.onlyCall(caller)).toMatchObject({ protocol: 'chat-completions' });
  });
});
