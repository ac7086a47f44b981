import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import { aRequest } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn } from '../support/scripted-upstream.js';

/** The table of base URLs: what each kind of client is told to be given. */
const VALUES: Readonly<Record<string, string>> = {
  'the bare address': '',
  'the address with /v1': '/v1',
  'the full endpoint': '/v1/messages',
};

/** Clients that each expect another row of it. Each asks for a response at the base URL it is given, and gives its text. */
const CLIENTS: Readonly<Record<string, (base: string, key: string) => Promise<string>>> = {
  'the Anthropic SDK': async (baseURL, apiKey) => {
    const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
    const { content } = await client.messages.create({
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  'the Vercel AI SDK': async (baseURL, apiKey) => {
    const model = createAnthropic({ baseURL, apiKey })('m');
    return (await generateText({ model, prompt: 'Hi', maxOutputTokens: 100, maxRetries: 0 })).text;
  },
  'curl, which posts exactly where it is told to': async (address, key) => {
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'anthropic-version': '2023-06-01',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: JSON.stringify(aRequest('messages')),
    });
    const { content } = (await response.json()) as { content?: { text: string }[] };
    return (content ?? []).map(({ text }) => text).join('');
  },
};

describe('three clients, each given its own base URL and that of each other: all nine answer (case 108)', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => (relay = await RelayApp.start()));
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  describe.each(Object.keys(CLIENTS))('%s', (client) => {
    it.each(Object.keys(VALUES))('with %s', async (value) => {
      relay.upstream.script(responseIn('messages', { text: `${client} has ${value}` }));
      const text = await CLIENTS[client]!(`${relay.url}${VALUES[value]}`, caller.key);
      expect(text).toBe(`${client} has ${value}`);
      expect((await relay.upstream.nextRequest()).path).toBe('/v1/messages');
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', protocol: 'messages' });
    });
  });
});
