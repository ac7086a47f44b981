import { tokensIn } from '../../src/protocols/tokens/count-tokens.js';
import { TokenThread } from '../../src/protocols/tokens/index.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { catalogFor, RelayApp, type StoredCall } from '../support/relay-app.js';
import {
  responseIn,
  type AnswerOptions,
  chatBody,
  type ProtocolEndpoint,
  end,
  eventsIn,
  type Gate,
  jsonAnswer,
  messagesBody,
  responsesBody,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
  waitFor,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { builtTokenThread } from '../support/token-thread.js';

/** 11 tokens in o200k_base, as published; so is `hello`, which is one. Each comes in pieces that are none. */
const TEXT = ['Hel', 'lo, Wor', 'ld! How are y', 'ou today? ', '🌍'];
const SAID: AnswerOptions = { text: TEXT, reasoning: ['hel', 'lo'] };
const SAID_TOKENS = 12;
/** `Hello` from one user: one token, 4 around a message, 3 before the response. */
const PROMPT_TOKENS = 8;

const BODIES = { 'chat-completions': chatBody, messages: messagesBody, responses: responsesBody };

const withoutUsage = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value, (name, member: unknown) => (name === 'usage' ? undefined : member))) as T;

const silentEvents = (protocol: ProtocolEndpoint, options: AnswerOptions): ScriptedEvent[] =>
  eventsIn(protocol, options).map((event) => withoutUsage(event));

/** A response whose upstream keeps its usage to itself, asked or not; a stream may wait before its last event. */
const silent =
  (protocol: ProtocolEndpoint, options: AnswerOptions = SAID, last?: Gate): Script =>
  (request) => {
    if ((JSON.parse(request.body.toString()) as { stream?: boolean }).stream !== true)
      return jsonAnswer(200, withoutUsage(BODIES[protocol](options)));
    const events = silentEvents(protocol, options);
    return [streamHead(), sse(events.slice(0, -2)), ...(last ? [waitFor(last)] : []), sse(events.slice(-2)), end()];
  };

describe('an upstream that reports no usage', () => {
  let relay: RelayApp;
  beforeEach(async () => (relay = await RelayApp.start()));
  afterEach(() => relay.close());

  /** The row of one call; settled before its end was sent. */
  async function rowOf(protocol: ProtocolEndpoint, overrides: object = {}): Promise<StoredCall> {
    const caller = await relay.caller();
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { ...overrides }));
    await response.text();
    expect(response.status).toBe(200);
    return relay.onlyCall(caller);
  }

  it.each(PROTOCOLS)('is charged for what a tokenizer counts, streamed or not: %s', async (protocol) => {
    relay.upstream.script(silent(protocol));
    for (const stream of [false, true, true])
      expect(await rowOf(protocol, { stream })).toMatchObject({
        status: 'succeeded',
        billing_basis: 'estimated',
        prompt_tokens: `${PROMPT_TOKENS}`,
        completion_tokens: `${SAID_TOKENS}`,
        // $1 per million in, $10 out.
        cost: `${PROMPT_TOKENS * 1000 + SAID_TOKENS * 10_000}`,
      });
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });

  it('is charged for the prompt that its stream began with and for the words that were counted, every time', async () => {
    const [start, ...rest] = eventsIn('messages', {
      ...SAID,
      usage: { prompt: 900, cacheRead: 400, completion: 5000 },
    });
    relay.upstream.script([streamHead(), sse([start!, ...rest.map((event) => withoutUsage(event))]), end()]);
    // Twice: what is known of the first prompt must not pass for a report when the second one ends.
    for (const attempt of ['first', 'second'])
      expect([attempt, await rowOf('messages', { stream: true })]).toMatchObject([
        attempt,
        {
          status: 'succeeded',
          billing_basis: 'estimated',
          prompt_tokens: '900',
          cached_tokens: '400',
          completion_tokens: `${SAID_TOKENS}`,
          // $1 per million in, a tenth of it from the cache, $10 out.
          cost: `${500 * 1000 + 400 * 100 + SAID_TOKENS * 10_000}`,
        },
      ]);
  });

  it.each(PROTOCOLS)('is charged for names and arguments of tools, streamed or not: %s', async (protocol) => {
    relay.upstream.script(silent(protocol, { toolCalls: [WEATHER_CALL] }));
    const tokens = tokensIn('get_weather') + tokensIn('{"city":"Oslo"}');
    for (const stream of [false, true])
      expect(await rowOf(protocol, { stream })).toMatchObject({ completion_tokens: `${tokens}` });
  });

  it.each(PROTOCOLS)('is charged 1,600 tokens for an image, and none for its bytes: %s', async (protocol) => {
    relay.upstream.script(silent(protocol));
    const row = await rowOf(protocol, promptWithImage(protocol));
    expect(row).toMatchObject({ billing_basis: 'estimated', prompt_tokens: `${PROMPT_TOKENS + 1600}` });
  });

  it('tells responses apart that come by turns in one stream', async () => {
    const chunk = (index: number, content: string, finish_reason: string | null = null): ScriptedEvent => ({
      data: { choices: [{ index, delta: { content }, finish_reason }] },
    });
    const events = [
      chunk(0, 'hel'),
      chunk(1, 'hel'),
      chunk(1, 'lo', 'stop'),
      chunk(0, 'lo', 'stop'),
      { data: '[DONE]' },
    ];
    relay.upstream.script([streamHead(), sse(events), end()]);
    expect(await rowOf('chat-completions', { stream: true, n: 2 })).toMatchObject({ completion_tokens: '2' });
  });

  it('is charged for all of a long response by the part of it that was kept', async () => {
    await relay.applyCatalog(
      catalogFor(relay.upstream.url).replaceAll('max_output_tokens: 64000', 'max_output_tokens: 400000'),
    );
    // Two million characters, of which 256 Ki are kept; a token for each word.
    const words = ' hello'.repeat(1000);
    relay.upstream.script(silent('chat-completions', { text: Array.from({ length: 333 }, () => words) }));
    const row = await rowOf('chat-completions', { stream: true });
    expect(Number(row['completion_tokens'])).toBeGreaterThan(332_000);
    expect(Number(row['completion_tokens'])).toBeLessThan(334_000);
  });

  it('is charged by the count when it has stopped to report', async () => {
    relay.upstream.script(responseIn('chat-completions', SAID));
    expect(await rowOf('chat-completions', { stream: true })).toMatchObject({ billing_basis: 'reported' });
    relay.upstream.script(silent('chat-completions'));
    expect(await rowOf('chat-completions', { stream: true })).toMatchObject({
      billing_basis: 'estimated',
      prompt_tokens: `${PROMPT_TOKENS}`,
    });
  });

  it('is charged roughly when the words cannot be counted', async () => {
    Object.assign(relay.get(TokenThread), {
      program: new URL('file:///no/such/program.js'),
    } satisfies Partial<TokenThread>);
    relay.upstream.script(silent('chat-completions'));
    const bytes = JSON.stringify(aRequest('chat-completions')).length;
    expect(await rowOf('chat-completions')).toMatchObject({
      billing_basis: 'estimated',
      prompt_tokens: `${Math.ceil(bytes / 4)}`,
    });
    Object.assign(relay.get(TokenThread), builtTokenThread());
    expect(await rowOf('chat-completions')).toMatchObject({ prompt_tokens: `${PROMPT_TOKENS}` });
  });

  it('is charged the same when the client leaves while its complete response is counted', async () => {
    const never = 'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => undefined);';
    Object.assign(relay.get(TokenThread), {
      program: new URL(`data:text/javascript,${never}`),
      timeoutMs: 1000,
    } satisfies Partial<TokenThread>);
    relay.upstream.script(silent('chat-completions'));
    const caller = await relay.caller();
    const leaving = new AbortController();
    const call = fetch(`${relay.url}${PATHS['chat-completions']}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(aRequest('chat-completions', { stream: true })),
      signal: leaving.signal,
    });
    const response = await call;
    await (
      await relay.upstream.nextRequest()
    ).closed;
    leaving.abort();
    await expect(response.text()).rejects.toThrow('aborted');
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', billing_basis: 'estimated' });
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  });
});

function promptWithImage(protocol: ProtocolEndpoint): object {
  const data = Buffer.alloc(3000, 'pixels').toString('base64');
  const url = `data:image/png;base64,${data}`;
  switch (protocol) {
    case 'chat-completions':
      return {
        messages: [
          user([
            { type: 'text', text: 'Hello' },
            { type: 'image_url', image_url: { url } },
          ]),
        ],
      };
    case 'messages': {
      const source = { type: 'base64', media_type: 'image/png', data };
      return {
        messages: [
          user([
            { type: 'text', text: 'Hello' },
            { type: 'image', source },
          ]),
        ],
      };
    }
    case 'responses':
      return {
        input: [
          user([
            { type: 'input_text', text: 'Hello' },
            { type: 'input_image', image_url: url },
          ]),
        ],
      };
  }
}

const user = (content: unknown): object => ({ role: 'user', content });
