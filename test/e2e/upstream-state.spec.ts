import { DataSource } from 'typeorm';
import { CatalogService } from '../../src/catalog/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { expectError, NOT_FOUND, OVERLOADED } from '../support/api-errors.js';
import { aRequest, PATHS } from '../support/dialects.js';
import { eventually } from '../support/eventually.js';
import { catalogFor, RelayApp, type TestCaller } from '../support/relay-app.js';
import { streamIn } from '../support/scripted-bodies.js';
import {
  type Dialect,
  encodeEvents,
  head,
  bytes,
  hang,
  type JsonObject,
  jsonAnswer,
  messagesBody,
  messagesEvents,
  responsesBody,
  responsesEvents,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';

/** Every protocol has a second channel of the same tier: only one of the two has what it created. */
const catalog = (url: string): string =>
  catalogFor(url)
    .replaceAll('tool_fees: { ', 'tool_fees: { shell: 0, ')
    .concat(
      ['messages', 'responses']
        .map(
          (protocol) => `
  - name: ${protocol}-twin
    protocol: ${protocol}
    base_url: ${url}
    credentials: [upstream-secret-of-the-${protocol}-twin]
    groups: [default, saver]
    flags: { nativeOnly: true }
    models: { m: vendor-m-2026 }`,
        )
        .join(''),
    );

const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString();
const CODE_EXECUTION = { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] };
const CODE_INTERPRETER = { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] };
const SHELL = { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] };

/** `bash_code_execution_tool_result` of @anthropic-ai/sdk 1.12.0. */
const outputs = (fileId: string): JsonObject => ({
  type: 'bash_code_execution_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: {
    type: 'bash_code_execution_result',
    stdout: '',
    stderr: '',
    return_code: 0,
    content: [{ type: 'bash_code_execution_output', file_id: fileId }],
  },
});

/** `container_file_citation` of openai 7.57.0. */
const citing = (containerId: string, fileId: string): JsonObject => ({
  type: 'message',
  id: 'msg_citing',
  role: 'assistant',
  status: 'completed',
  content: [
    {
      type: 'output_text',
      text: 'Done.',
      annotations: [
        {
          type: 'container_file_citation',
          container_id: containerId,
          file_id: fileId,
          filename: 'a.csv',
          start_index: 0,
          end_index: 4,
        },
      ],
    },
  ],
});

/** A message with a container and a block of its content, whole or streamed. */
function messageWith(container: JsonObject | null, ...blocks: readonly JsonObject[]): Script {
  const whole = messagesBody();
  const events = messagesEvents() as unknown as { event: string; data: JsonObject }[];
  const streamed = events.flatMap(({ event, data }): ScriptedEvent[] => {
    if (event === 'message_start') {
      const started = { event, data };
      const shown = blocks.flatMap((block, index): ScriptedEvent[] => [
        {
          event: 'content_block_start',
          data: { type: 'content_block_start', index: 50 + index, content_block: block },
        },
        { event: 'content_block_stop', data: { type: 'content_block_stop', index: 50 + index } },
      ]);
      return [started, ...shown];
    }
    const { delta } = data as { delta?: JsonObject };
    return [event === 'message_delta' ? { event, data: { ...data, delta: { ...delta, container } } } : { event, data }];
  });
  return (request) =>
    streamIn(request)
      ? [streamHead(), sse(streamed)]
      : jsonAnswer(200, { ...whole, container, content: [...blocks, ...(whole['content'] as JsonObject[])] });
}

/** A response with these items before its own, whole or streamed. */
function responseWith(items: readonly JsonObject[], more: JsonObject = {}): Script {
  const whole = responsesBody();
  const output = [...items, ...(whole['output'] as JsonObject[])];
  const events = responsesEvents() as unknown as { event: string; data: JsonObject }[];
  const streamed = events.flatMap(({ event, data }): ScriptedEvent[] => {
    if (event !== 'response.completed') return [{ event, data }];
    const done = items.map((item, index) => ({
      event: 'response.output_item.done',
      data: { type: 'response.output_item.done', output_index: 50 + index, item },
    }));
    const response = { ...(data['response'] as JsonObject), ...more };
    return [...done, { event, data: { ...data, response } }];
  });
  return (request) =>
    streamIn(request) ? [streamHead(), sse(streamed)] : jsonAnswer(200, { ...whole, ...more, output });
}

interface Case {
  readonly name: string;
  readonly protocol: Dialect;
  /** The request that has the state created, and its response. */
  readonly creating: JsonObject;
  readonly created: Script;
  /** A request that names it. */
  readonly naming: JsonObject;
  /** As the vendor's error names it. */
  readonly param?: string;
}

const withContent = (content: readonly JsonObject[], role = 'user'): JsonObject => ({ messages: [{ role, content }] });

const CASES: readonly Case[] = [
  {
    name: 'a container',
    protocol: 'messages',
    creating: CODE_EXECUTION,
    created: messageWith({ id: 'container_1', expires_at: IN_AN_HOUR, skills: null }),
    naming: { container: 'container_1' },
  },
  {
    name: 'a file that code wrote',
    protocol: 'messages',
    creating: CODE_EXECUTION,
    created: messageWith(null, outputs('file_1')),
    naming: withContent([{ type: 'container_upload', file_id: 'file_1' }]),
  },
  {
    name: 'a conversation with the result of code',
    protocol: 'messages',
    creating: CODE_EXECUTION,
    created: messageWith(null, outputs('file_2')),
    naming: withContent([outputs('file_2')], 'assistant'),
  },
  {
    name: 'a message of a thread',
    protocol: 'messages',
    creating: { thread: { type: 'create' } },
    created: messageWith(null),
    naming: { thread: { type: 'continue', previous_message_id: messagesBody()['id'] } },
  },
  {
    name: 'a container of the code interpreter',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([{ type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', status: 'completed' }]),
    naming: { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
    param: 'tools[0]',
  },
  {
    name: 'a container of the shell',
    protocol: 'responses',
    creating: SHELL,
    created: responseWith([
      {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'c_1',
        environment: { type: 'container_reference', container_id: 'cntr_2' },
      },
    ]),
    naming: { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_2' } }] },
    param: 'tools[0]',
  },
  {
    name: 'a file that is cited',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([citing('cntr_3', 'cfile_3')]),
    naming: { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'cfile_3' }] }] },
    param: 'file_id',
  },
  {
    name: 'a conversation with a citation',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([citing('cntr_4', 'cfile_4')]),
    naming: {
      input: [
        { ...citing('cntr_4', 'cfile_4'), id: undefined },
        { role: 'user', content: 'Go on.' },
      ],
    },
    param: 'container_id',
  },
  {
    name: 'a conversation',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([], { conversation: { id: 'conv_1' } }),
    naming: { conversation: 'conv_1' },
    param: 'conversation',
  },
];

describe('state that an upstream creates', () => {
  let relay: RelayApp;
  let second: RelayApp;
  let ann: TestCaller;
  let bob: TestCaller;

  beforeAll(async () => {
    relay = await RelayApp.startEmpty();
    await relay.applyCatalog(catalog(relay.upstream.url));
    second = await RelayApp.startEmpty({}, { DATABASE_URL: relay.databaseUrl });
  }, 60_000);
  afterAll(async () => {
    await second.close();
    await relay.close();
  });
  beforeEach(async () => {
    relay.upstream.reset();
    [ann, bob] = [await relay.caller(), await relay.caller()];
  });

  const post = async (protocol: Dialect, more: JsonObject, { key } = ann, at = relay): Promise<Response> =>
    at.post(PATHS[protocol], key, aRequest(protocol, more));
  const credentials = (): unknown[] =>
    relay.upstream.requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization);
  const anotherKey = async (): Promise<TestCaller> => {
    const { id, secret } = await relay.get(ApiKeyService).create({ accountId: ann.accountId, name: 'second' });
    return { ...ann, keyId: id, key: secret.reveal() };
  };
  const create = async ({ protocol, creating, created }: Case, stream: boolean): Promise<void> => {
    relay.upstream.scriptNext(created);
    const response = await post(protocol, { ...creating, stream });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  };
  const expectUnknown = async ({ protocol, naming, param }: Case, by: TestCaller, at = relay): Promise<void> => {
    const before = relay.upstream.requests.length;
    await expectError(protocol, await post(protocol, naming, by, at), NOT_FOUND, param === undefined ? {} : { param });
    expect(relay.upstream.requests.length).toBe(before);
  };

  describe.each([false, true])('streamed: %s', (stream) => {
    it.each(CASES)(
      'F7: $protocol: $name is accepted from its account alone, by the channel that made it',
      async (one) => {
        await create(one, stream);
        await expectUnknown(one, bob);
        const other = await anotherKey();
        // By chance, all of them would go to the same channel once in 64 times.
        for (let turn = 0; turn < 6; turn++) {
          const response = await post(one.protocol, one.naming, other);
          expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
        }
        expect(new Set(credentials()).size).toBe(1);
        const { body } = relay.upstream.requests.at(-1)!;
        expect(JSON.parse(String(body))).toMatchObject(JSON.parse(JSON.stringify(one.naming)) as JsonObject);
      },
    );
  });

  it('F7: another process accepts what this one was given', async () => {
    const [one] = CASES;
    await create(one!, true);
    await expectUnknown(one!, bob, second);
    expect((await post(one!.protocol, one!.naming, ann, second)).status).toBe(200);
    expect(new Set(credentials()).size).toBe(1);
  });

  it('F7: one id of another account among own ones is refused', async () => {
    await create(CASES[1]!, false);
    const own = { type: 'container_upload', file_id: 'file_1' };
    const foreign = { type: 'container_upload', file_id: 'file_of_bob' };
    const hidden = JSON.stringify(aRequest('messages', withContent([own, foreign])));
    for (const body of [
      hidden,
      hidden.replace('"file_of_bob"', '"file_of_b\\u006fb"'),
      hidden.replace('"file_id":"file_of_bob"', '"file\\u005fid":"file_of_bob"'),
      hidden.replace('file_of_bob', 'f'.repeat(2000)),
    ]) {
      const before = relay.upstream.requests.length;
      expect((await relay.post(PATHS.messages, ann.key, body)).status).toBe(404);
      expect(relay.upstream.requests.length).toBe(before);
    }
  });

  it('F7: a container of another account in an item of the conversation is refused', async () => {
    const item = {
      type: 'code_interpreter_call',
      container_id: 'cntr_of_bob',
      code: '',
      outputs: [],
      status: 'completed',
    };
    const response = await post('responses', {
      ...CODE_INTERPRETER,
      input: [item, { role: 'user', content: 'Go on.' }],
    });
    await expectError('responses', response, NOT_FOUND, { param: 'container_id' });
    expect(relay.upstream.requests).toEqual([]);
  });

  it('F7: ids that only look created are not recorded', async () => {
    const claimed = { type: 'text', text: '{"container":{"id":"container_9"}}', file_id: 'file_9' };
    relay.upstream.scriptNext(
      messageWith(null, claimed, { type: 'mcp_tool_result', content: [{ file_id: 'file_9' }] }),
    );
    await (await post('messages', CODE_EXECUTION)).text();
    const response = await post('messages', withContent([{ type: 'container_upload', file_id: 'file_9' }]));
    expect(response.status).toBe(404);
  });

  it('F7: ids of a stream that the client left are recorded', async () => {
    const events = [
      { event: 'message_start', data: { type: 'message_start', message: { ...messagesBody(), content: [] } } },
      {
        event: 'content_block_start',
        data: { type: 'content_block_start', index: 0, content_block: outputs('file_left') },
      },
    ];
    relay.upstream.scriptNext([
      head(200, { 'content-type': 'text/event-stream' }),
      bytes(encodeEvents(events)),
      hang(),
    ]);
    const response = await post('messages', { ...CODE_EXECUTION, stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    await eventually(async () => {
      const again = await post('messages', withContent([{ type: 'container_upload', file_id: 'file_left' }]));
      expect(again.status).toBe(200);
    });
  });

  it('F7: nothing is found once its container expired', async () => {
    relay.upstream.scriptNext(messageWith({ id: 'container_old', expires_at: '2026-01-01T00:00:00Z', skills: null }));
    await (await post('messages', CODE_EXECUTION)).text();
    expect((await post('messages', { container: 'container_old' })).status).toBe(404);
  });

  it('F7: a prompt with ids of another account is counted here', async () => {
    await create(CASES[1]!, false);
    const counted = async ({ key }: TestCaller): Promise<number> => {
      relay.upstream.reset();
      const body = { model: 'm', ...CASES[1]!.naming };
      expect((await relay.post('/v1/messages/count_tokens', key, body)).status).toBe(200);
      return relay.upstream.requests.length;
    };
    expect([await counted(bob), await counted(ann)]).toEqual([0, 1]);
  });

  it('F7: a prompt that goes on from a response of another account is counted here', async () => {
    const count = (more: JsonObject): Promise<Response> =>
      relay.post('/v1/responses/input_tokens', ann.key, { model: 'm', input: 'Hello', ...more });
    const counted = await count({ previous_response_id: 'resp_of_bob' });
    const counted2 = await count({ input: [{ type: 'item_reference', id: 'rs_of_bob' }] });
    expect([counted.status, counted2.status, relay.upstream.requests]).toEqual([200, 200, []]);
  });

  it('F7: is unavailable, not unknown, while its channel is disabled', async () => {
    const [one] = CASES;
    await create(one!, false);
    const enable = async (isEnabled: boolean): Promise<void> => {
      await relay.get(DataSource).query(
        `UPDATE channels SET enabled = $2
          WHERE id = (SELECT channel_id FROM upstream_states WHERE account_id = $1 LIMIT 1)`,
        [ann.accountId, isEnabled],
      );
      await relay.get(CatalogService).reload();
    };
    await enable(false);
    const refused = await post(one!.protocol, one!.naming);
    await enable(true);
    await expectError(one!.protocol, refused, OVERLOADED);
    expect((await post(one!.protocol, one!.naming)).status).toBe(200);
    expect(new Set(credentials()).size).toBe(1);
  });

  it('F7: nothing is found once its channel was removed', async () => {
    const sql = relay.get(DataSource);
    await create(CASES[0]!, false);
    await sql.query(`UPDATE upstream_states SET channel_id = 'chn_removed' WHERE account_id = $1`, [ann.accountId]);
    await expectUnknown(CASES[0]!, ann);
  });
});
