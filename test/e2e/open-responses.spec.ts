import { VENDORS } from '../conformance/protocols/index.js';
import { compactionErrors, eventErrors, responseErrors } from '../support/open-responses.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import { readRequest } from '../support/protocol-doubles.js';
import type { RecordedRequest } from '../support/scripted-request.js';
import { errorResponse, type JsonObject, jsonAnswer, responseIn, type Script } from '../support/scripted-upstream.js';
import { type SocketClient, socketClients } from '../support/socket-client.js';
import { readData } from '../support/stream-text.js';

const UNMATCHED = 'call_without_request';
const NOT_FOUND = 'previous_response_not_found';
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Current weather of a place',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const CALL = { id: 'call_1', name: WEATHER.name, arguments: ['{"place":', '"Oslo"}'] };
const COMPACTION: JsonObject = {
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1,
  output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' }],
  usage: {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 11,
  },
};

/** Calls a tool that it is offered, and rejects what vendors do: results without a call, and responses not stored. */
function vendor(request: RecordedRequest): Script {
  const { protocol = '', json, path } = request;
  if (path.endsWith('/compact')) return jsonAnswer(200, COMPACTION);
  if (request.body.includes(UNMATCHED)) return errorResponse(protocol, 400);
  if ('previous_response_id' in json) {
    const error = {
      type: 'invalid_request_error',
      code: NOT_FOUND,
      message: 'Not found.',
      param: 'previous_response_id',
    };
    return jsonAnswer(400, { error });
  }
  // The double of Responses does not know compactions.
  if (request.body.includes('cmp_1')) return responseIn(protocol);
  const calls = readRequest(protocol, json).tools?.some(({ name }) => name === WEATHER.name) === true;
  return responseIn(protocol, calls ? { toolCalls: [CALL] } : {});
}

const message = (role: string, content: unknown, more: JsonObject = {}): JsonObject => ({
  type: 'message',
  role,
  content,
  ...more,
});
const typesOf = (items: unknown): unknown[] => (items as JsonObject[]).map(({ type }) => type);
const codeOf = ({ error }: JsonObject): unknown => (error as JsonObject)['code'];

// The 17 cases of the compliance suite of openresponses.org, by their names there, but for one without a request.
const world = usePairsRelay();
const connect = socketClients(() => ({ url: world.relay.url, key: world.caller.key }));

describe.each(VENDORS.map(({ id }) => id))('Open Responses over %s', (upstream) => {
  const model = `over-${upstream}`;
  beforeEach(() => world.relay.upstream.script(vendor));

  const post = (path: string, body: JsonObject): Promise<Response> =>
    world.relay.post(path, world.caller.key, body as Record<string, unknown>);
  const respond = async (body: JsonObject): Promise<JsonObject> => {
    const response = (await (await post('/v1/responses', { model, ...body })).json()) as JsonObject;
    expect(responseErrors(response)).toEqual([]);
    expect(response['status']).toBe('completed');
    return response;
  };
  /** Sends a turn and returns its last message, a response or an error. */
  const turn = async (client: SocketClient, body: JsonObject): Promise<JsonObject> => {
    const before = client.messages.length;
    client.create({ model, ...body });
    const last = await client.ending(before);
    expect(client.messages.slice(before).flatMap(eventErrors)).toEqual([]);
    return last;
  };
  const completed = async (client: SocketClient, body: JsonObject): Promise<JsonObject> => {
    const last = await turn(client, body);
    expect(last['type']).toBe('response.completed');
    return last['response'] as JsonObject;
  };

  it.each<[string, JsonObject]>([
    ['basic-response', { input: [message('user', 'Greet me in three words.')] }],
    [
      'assistant-phase',
      {
        input: [
          message('assistant', 'I look it up.', { phase: 'commentary' }),
          message('assistant', 'It is four.', { phase: 'final_answer' }),
          message('user', 'Say it again.'),
        ],
      },
    ],
    ['system-prompt', { input: [message('system', 'Talk like a pirate.'), message('user', 'Greet me.')] }],
    [
      'multi-turn',
      { input: [message('user', 'I am Ann.'), message('assistant', 'Hello Ann!'), message('user', 'Who am I?')] },
    ],
    [
      'image-input',
      {
        input: [
          message('user', [
            { type: 'input_text', text: 'What is it?' },
            { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
          ]),
        ],
      },
    ],
  ])('passes %s', async (_, body) => {
    expect(typesOf((await respond(body))['output'])).toEqual(['message']);
  });

  it('passes tool-calling', async () => {
    const { output } = await respond({ input: [message('user', 'How is the weather in Oslo?')], tools: [WEATHER] });
    expect(typesOf(output)).toContain('function_call');
  });

  it('passes streaming-response', async () => {
    const response = await post('/v1/responses', { model, input: [message('user', 'Count to 5.')], stream: true });
    const events = readData(await response.text()).filter((data) => data !== '[DONE]');
    expect(events.flatMap(eventErrors)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
  });

  it('passes compact-response and compact-missing-model', async () => {
    const input = [message('user', 'We launch on Tuesday.'), message('assistant', 'Tuesday it is.')];
    const compaction = (await (
      await post('/v1/responses/compact', { model, input, prompt_cache_key: 'launch' })
    ).json()) as JsonObject;
    expect(compactionErrors(compaction)).toEqual([]);
    expect(typesOf(compaction['output'])).toContain('compaction');
    expect((await post('/v1/responses/compact', { input })).status).toBe(400);
  });

  it('passes websocket-response and websocket-sequential-responses', async () => {
    const client = await connect();
    await completed(client, { input: [message('user', 'Count to 3.')] });
    await completed(client, { input: 'Say first.', store: false });
    const { output } = await completed(client, { input: 'Say second.', store: false });
    expect(typesOf(output)).toEqual(['message']);
  });

  it('passes websocket-continuation and websocket-reconnect-store-false-recovery', async () => {
    const client = await connect();
    const first = await completed(client, { input: 'The word is cobalt.', store: false });
    const next = { previous_response_id: first['id'], input: 'What is the word?', store: false };
    await completed(client, next);
    expect(world.relay.upstream.requests.at(-1)?.body.toString()).toContain('cobalt');
    const other = await connect();
    expect(codeOf(await turn(other, next))).toBe(NOT_FOUND);
    await completed(other, { input: [message('user', 'Start again.')], store: false });
  });

  it('passes websocket-previous-response-not-found', async () => {
    const body = { previous_response_id: 'resp_missing', input: 'Go on.', store: false };
    expect(codeOf(await turn(await connect(), body))).toBe(NOT_FOUND);
  });

  it('passes websocket-failed-continuation-evicts-cache', async () => {
    const client = await connect();
    const { id } = await completed(client, { input: 'The word is ember.', store: false });
    const next = { previous_response_id: id, store: false };
    const result = { type: 'function_call_output', call_id: UNMATCHED, output: 'Sunny' };
    expect(await turn(client, { ...next, input: [result] })).toMatchObject({ type: 'error' });
    expect(codeOf(await turn(client, { ...next, input: 'Go on.' }))).toBe(NOT_FOUND);
  });

  it('passes websocket-compact-new-chain', async () => {
    const input = [message('user', [{ type: 'input_text', text: 'The word is slate.' }])];
    const { output } = (await (await post('/v1/responses/compact', { model, input })).json()) as JsonObject;
    const items = [...(output as JsonObject[]), message('user', 'Go on.')];
    const response = await completed(await connect(), { input: items, tools: [], store: false });
    expect(typesOf(response['output'])).toEqual(['message']);
  });
});
