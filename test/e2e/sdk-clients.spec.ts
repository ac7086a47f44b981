import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { PROTOCOLS } from '../support/protocols.js';
import { PIXEL } from '../support/pairs-relay.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  delay,
  destroy,
  type ProtocolEndpoint,
  end,
  eventsIn,
  type Script,
  sse,
  streamHead,
  THINKING_SIGNATURE,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import {
  promptOf,
  type SdkResponse,
  readChatCompletion,
  readMessage,
  readResponseObject,
} from '../support/sdk-responses.js';

const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, '10': {}, '2': {} },
  required: ['city'],
};
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 50 };

type ApiError = InstanceType<typeof OpenAI.APIError>;

/** One exchange as the SDK's `fetch` saw it. */
interface Exchange {
  readonly sent: string;
  readonly response: Promise<string>;
}

describe('the official SDKs', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let exchanges: Exchange[];
  beforeAll(async () => (relay = await RelayApp.start()));
  beforeEach(async () => {
    caller = await relay.caller({ credit: '1000' });
    exchanges = [];
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  /** Fetches, and notes what really went over the wire both ways. */
  const watched = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    exchanges.push({
      sent: typeof init?.body === 'string' ? init.body : '',
      response: response
        .clone()
        .text()
        .catch(() => 'broken'),
    });
    return response;
  };
  const openai = (apiKey = caller.key): OpenAI => new OpenAI({ baseURL: `${relay.url}/v1`, apiKey, fetch: watched });
  const anthropic = (apiKey = caller.key): Anthropic => new Anthropic({ baseURL: relay.url, apiKey, fetch: watched });

  const chatRequest = {
    model: 'm',
    messages: [
      { role: 'system' as const, content: 'Be brief.' },
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What is the weather here? ☃ 😀' },
          { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } },
        ],
      },
    ],
    tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters: SCHEMA } }],
    max_completion_tokens: 1000,
  };
  const responsesRequest = {
    model: 'm',
    instructions: 'Be brief.',
    input: [
      {
        role: 'user' as const,
        content: [
          { type: 'input_text' as const, text: 'What is the weather here? ☃ 😀' },
          { type: 'input_image' as const, image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' as const },
        ],
      },
    ],
    tools: [{ type: 'function' as const, name: 'get_weather', parameters: SCHEMA, strict: false }],
    max_output_tokens: 1000,
  };
  const messagesRequest = {
    model: 'm',
    max_tokens: 1000,
    system: 'Be brief.',
    messages: [
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What is the weather here? ☃ 😀' },
          {
            type: 'image' as const,
            source: { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL },
          },
        ],
      },
      {
        role: 'assistant' as const,
        content: [
          { type: 'thinking' as const, thinking: 'Hm.', signature: THINKING_SIGNATURE },
          { type: 'text' as const, text: 'Well' },
        ],
      },
      { role: 'user' as const, content: 'Yes?' },
    ],
    tools: [{ name: 'get_weather', input_schema: SCHEMA }],
  };

  const wholeChat = async (): Promise<SdkResponse> =>
    readChatCompletion(await openai().chat.completions.create(chatRequest));
  const wholeResponse = async (): Promise<SdkResponse> =>
    readResponseObject(await openai().responses.create(responsesRequest));
  const wholeMessage = async (): Promise<SdkResponse> =>
    readMessage(await anthropic().messages.create(messagesRequest));

  const streamedChat = async (): Promise<SdkResponse> => {
    let text = '';
    const calls: string[] = [];
    for await (const { choices, usage } of await openai().chat.completions.create({ ...chatRequest, stream: true })) {
      // Many programs take the first choice of each chunk blindly.
      const { delta } = choices[0]!;
      expect(usage ?? null).toBeNull();
      text += delta.content ?? '';
      for (const call of delta.tool_calls ?? [])
        calls[call.index] = (calls[call.index] ?? `${call.function?.name} `) + (call.function?.arguments ?? '');
    }
    return { text, calls, tokens: [1000, 200] };
  };
  const streamedResponse = async (): Promise<SdkResponse> => {
    let last: OpenAI.Responses.Response | undefined;
    let text = '';
    for await (const event of await openai().responses.create({ ...responsesRequest, stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed') last = event.response;
    }
    return { ...readResponseObject(last!), text };
  };
  const streamedMessage = async (): Promise<SdkResponse> => {
    let text = '';
    const calls: string[] = [];
    const tokens = [0, 0];
    for await (const event of await anthropic().messages.create({ ...messagesRequest, stream: true })) {
      if (event.type === 'message_start') tokens[0] = promptOf(event.message.usage);
      if (event.type === 'message_delta') tokens[1] = event.usage.output_tokens;
      if (event.type === 'content_block_start' && event.content_block.type === 'tool_use')
        calls[event.index - 1] = `${event.content_block.name} `;
      if (event.type !== 'content_block_delta') continue;
      if (event.delta.type === 'text_delta') text += event.delta.text;
      if (event.delta.type === 'input_json_delta') calls[event.index - 1] += event.delta.partial_json;
    }
    return { text, calls: calls.map((call) => (call.endsWith(' ') ? `${call}{}` : call)), tokens };
  };

  const helpedChat = async (): Promise<SdkResponse> =>
    readChatCompletion(
      await openai()
        .chat.completions.stream({ ...chatRequest, stream_options: { include_usage: true } })
        .finalChatCompletion(),
    );
  const helpedResponse = async (): Promise<SdkResponse> =>
    readResponseObject(await openai().responses.stream(responsesRequest).finalResponse());
  const helpedMessage = async (): Promise<SdkResponse> =>
    readMessage(await anthropic().messages.stream(messagesRequest).finalMessage());

  it.each<[string, ProtocolEndpoint, () => Promise<SdkResponse>]>([
    ['openai chat', 'chat-completions', wholeChat],
    ['openai chat, streamed', 'chat-completions', streamedChat],
    ['openai chat, with the stream helper', 'chat-completions', helpedChat],
    ['openai responses', 'responses', wholeResponse],
    ['openai responses, streamed', 'responses', streamedResponse],
    ['openai responses, with the stream helper', 'responses', helpedResponse],
    ['anthropic messages', 'messages', wholeMessage],
    ['anthropic messages, streamed', 'messages', streamedMessage],
    ['anthropic messages, with the stream helper', 'messages', helpedMessage],
  ])(
    'send tools and images up unchanged and understand what comes back, byte by byte: %s',
    async (_, protocol, ask) => {
      relay.upstream.script(
        responseIn(protocol, { text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL], usage: USAGE }),
      );
      expect(await ask()).toEqual({
        text: 'Let me see. ☃',
        calls: ['get_weather {"city":"Oslo"}', 'get_time {}'],
        tokens: [1000, 200],
      });

      expect(exchanges).toHaveLength(1);
      const { sent, response } = exchanges[0]!;
      const request = await relay.upstream.nextRequest();
      expect(request.body.toString().replace(forcedUsage(protocol, sent), '')).toBe(
        sent.replace('"model":"m"', '"model":"vendor-m-2026"'),
      );
      expect(await response).toBe(withoutForcedUsage(protocol, sent, relay.upstream.lastSent.toString()));
      expect(await relay.onlyCall(caller)).toMatchObject({
        status: 'succeeded',
        billing_basis: 'reported',
        prompt_tokens: '1000',
        completion_tokens: '200',
      });
    },
  );

  it('list the models of the key, each in its own words, and find one whose name has a slash', async () => {
    const listed = (await openai().models.list()).data;
    expect(listed.map(({ id }) => id).toSorted()).toEqual(['fee', 'free', 'm', 'only-chat', 'vendor/with-slash']);
    expect(listed.find(({ id }) => id === 'm')).toMatchObject({ object: 'model', owned_by: 'tests' });
    const ids: string[] = [];
    for await (const model of anthropic().models.list({ limit: 2 })) {
      expect(model).toMatchObject({ type: 'model', display_name: model.id });
      ids.push(model.id);
    }
    expect(ids.toSorted()).toEqual(['fee', 'free', 'm', 'only-chat', 'vendor/with-slash']);
    expect((await openai().models.retrieve('vendor/with-slash')).id).toBe('vendor/with-slash');
    expect((await anthropic().models.retrieve('vendor/with-slash')).id).toBe('vendor/with-slash');
  });

  describe('raise errors of the right class, at once', () => {
    const failing: Readonly<
      Record<ProtocolEndpoint, (model: string, key: string, stream: boolean) => Promise<unknown>>
    > = {
      'chat-completions': (model, key, stream) =>
        openai(key).chat.completions.create({ ...chatRequest, model, stream }),
      responses: (model, key, stream) => openai(key).responses.create({ ...responsesRequest, model, stream }),
      messages: (model, key, stream) => anthropic(key).messages.create({ ...messagesRequest, model, stream }),
    };
    /** What the call rejects with, after a single request: the SDKs' own retries would only repeat the refusal. */
    async function errorOf(protocol: ProtocolEndpoint, model: string, key: string): Promise<ApiError> {
      for (const stream of [true, false]) {
        exchanges = [];
        const outcome = await failing[protocol](model, key, stream).catch((error: unknown) => error);
        expect(exchanges).toHaveLength(1);
        expect(outcome).toBeInstanceOf(protocol === 'messages' ? Anthropic.APIError : OpenAI.APIError);
        if (!stream) return outcome as ApiError;
      }
      throw new Error('unreachable');
    }

    it.each(PROTOCOLS)('401 for a key that is none: %s', async (protocol) => {
      const error = await errorOf(protocol, 'm', 'sk-nobody');
      expect(error).toBeInstanceOf(
        protocol === 'messages' ? Anthropic.AuthenticationError : OpenAI.AuthenticationError,
      );
      expect(error.message).toMatch(/401 .*Invalid token/);
      expect(error.requestID).toMatch(/^req_/);
    });

    it.each(PROTOCOLS)('404 for a model that is none: %s', async (protocol) => {
      const error = await errorOf(protocol, 'nobody', caller.key);
      expect(error).toBeInstanceOf(protocol === 'messages' ? Anthropic.NotFoundError : OpenAI.NotFoundError);
      expect(error.message).toMatch(/404 .*The model \\?"nobody\\?" does not exist/);
      if (protocol !== 'messages') expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
    });

    it.each(PROTOCOLS)('429 insufficient_quota, and 402 billing_error, for an empty wallet: %s', async (protocol) => {
      const poor = await relay.caller({ credit: '0' });
      const error = await errorOf(protocol, 'm', poor.key);
      expect(error.message).toMatch(/insufficient quota/);
      if (protocol === 'messages') expect(error).toMatchObject({ status: 402, type: 'billing_error' });
      else {
        expect(error).toBeInstanceOf(OpenAI.RateLimitError);
        expect(error).toMatchObject({ status: 429, code: 'insufficient_quota', type: 'insufficient_quota' });
      }
    });

    it.each(PROTOCOLS)('429 of an upstream, which is worth another try: %s', async (protocol) => {
      relay.upstream.scriptNext((request) => [limited(request.protocol!), end()]);
      relay.upstream.script(responseIn(protocol));
      await failing[protocol]('m', caller.key, false);
      expect(exchanges).toHaveLength(2);
    });
  });

  describe('do not take a response that breaks for a whole one (cases 98 and 99)', () => {
    const reading: Readonly<Record<string, [ProtocolEndpoint, () => Promise<unknown>]>> = {
      'openai chat, streamed': ['chat-completions', streamedChat],
      'openai chat, with the stream helper': ['chat-completions', helpedChat],
      'openai responses, streamed': ['responses', streamedResponse],
      'openai responses, with the stream helper': ['responses', helpedResponse],
      'anthropic messages, streamed': ['messages', streamedMessage],
      'anthropic messages, with the stream helper': ['messages', helpedMessage],
    };
    const breaks: Readonly<Record<string, Script>> = {
      'the connection breaks': [delay(20), destroy()],
      'the upstream ends early': end(),
    };

    it.each(Object.keys(reading).flatMap((client) => Object.keys(breaks).map((how) => [client, how] as const)))(
      '%s: %s',
      async (client, how) => {
        const [protocol, read] = reading[client]!;
        const events = eventsIn(protocol, { text: ['Let me ', 'see.'] });
        relay.upstream.script([streamHead(), sse(events.slice(0, -3)), breaks[how]!]);
        const outcome = await read().catch((error: unknown) => error);
        expect(outcome).toBeInstanceOf(protocol === 'messages' ? Anthropic.APIError : OpenAI.APIError);
        const { requestID, message } = outcome as ApiError;
        expect(message).toMatch(/upstream/i);
        const row = await relay.onlyCall(caller);
        // The id in the message finds the call in the log.
        expect(message).toContain(`(request id: ${row.id})`);
        expect(requestID).toBe(row.id);
        expect(row).toMatchObject({ status: 'failed', billing_basis: 'partial' });
        // No SDK asks again once a stream has begun, nor does the relay.
        expect(relay.upstream.requests).toHaveLength(1);
      },
    );
  });
});

/** What the relay puts into a stream's request when the client has not asked for usage itself. */
function forcedUsage(protocol: ProtocolEndpoint, sent: string): RegExp {
  const forced =
    protocol === 'chat-completions' && sent.includes('"stream":true') && !sent.includes('"include_usage":true');
  return forced ? /"stream_options":\{"include_usage":true\},/ : /(?!)/;
}

/** What of an upstream's response is meant for the client: not the usage that only the relay has asked for. */
function withoutForcedUsage(protocol: ProtocolEndpoint, sent: string, response: string): string {
  if (forcedUsage(protocol, sent).source === '(?!)') return response;
  return response
    .split(/(?<=\n\n)/)
    .filter((event) => !event.includes('"choices":[]'))
    .join('');
}

/** A rate limit that is over at once. */
function limited(protocol: string): Script {
  const error = { type: 'rate_limit_error', message: 'Slow down.' };
  const body = protocol === 'messages' ? { type: 'error', error } : { error };
  return [
    { type: 'head', status: 429, headers: { 'content-type': 'application/json', 'retry-after': '1' } },
    { type: 'bytes', bytes: Buffer.from(JSON.stringify(body)) },
  ];
}
