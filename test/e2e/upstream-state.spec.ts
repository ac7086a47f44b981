import { DataSource } from 'typeorm';
import { CatalogService } from '../../src/catalog/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { expectError, NOT_FOUND, OVERLOADED } from '../support/api-errors.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { catalogFor, RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  type ProtocolEndpoint,
  encodeEvents,
  head,
  bytes,
  hang,
  type JsonObject,
  messagesBody,
} from '../support/scripted-upstream.js';
import {
  CODE_EXECUTION,
  CODE_INTERPRETER,
  messageWith,
  outputs,
  STATE_CASES,
  type StateCase,
  withContent,
} from '../support/upstream-state-cases.js';

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

  const post = async (protocol: ProtocolEndpoint, more: JsonObject, { key } = ann, at = relay): Promise<Response> =>
    at.post(PATHS[protocol], key, aRequest(protocol, more));
  const credentials = (): unknown[] =>
    relay.upstream.requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization);
  const anotherKey = async (): Promise<TestCaller> => {
    const { id, secret } = await relay.get(ApiKeyService).create({ accountId: ann.accountId, name: 'second' });
    return { ...ann, keyId: id, key: secret.reveal() };
  };
  const create = async ({ protocol, creating, created }: StateCase, stream: boolean): Promise<void> => {
    relay.upstream.scriptNext(created);
    const response = await post(protocol, { ...creating, stream });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  };
  const expectUnknown = async ({ protocol, naming, param }: StateCase, by: TestCaller, at = relay): Promise<void> => {
    const before = relay.upstream.requests.length;
    await expectError(protocol, await post(protocol, naming, by, at), NOT_FOUND, param === undefined ? {} : { param });
    expect(relay.upstream.requests.length).toBe(before);
  };

  describe.each([false, true])('streamed: %s', (stream) => {
    it.each(STATE_CASES)(
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
    const [one] = STATE_CASES;
    await create(one!, true);
    await expectUnknown(one!, bob, second);
    expect((await post(one!.protocol, one!.naming, ann, second)).status).toBe(200);
    expect(new Set(credentials()).size).toBe(1);
  });

  it('F7: one id of another account among own ones is refused', async () => {
    await create(STATE_CASES[1]!, false);
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
    await create(STATE_CASES[1]!, false);
    const counted = async ({ key }: TestCaller): Promise<number> => {
      relay.upstream.reset();
      const body = { model: 'm', ...STATE_CASES[1]!.naming };
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
    const [one] = STATE_CASES;
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
    await create(STATE_CASES[0]!, false);
    await sql.query(`UPDATE upstream_states SET channel_id = 'chn_removed' WHERE account_id = $1`, [ann.accountId]);
    await expectUnknown(STATE_CASES[0]!, ann);
  });
});
