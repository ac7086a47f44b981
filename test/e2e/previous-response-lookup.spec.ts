import { DataSource } from 'typeorm';
import { ApiKeyService, type Caller, KeyDirectory } from '../../src/keys/index.js';
import { newId } from '../../src/platform/shared/index.js';
import { type Call, type ProtocolAdapter, type TreeObject, writeJson } from '../../src/protocols/contract/index.js';
import { RESPONSES_STORAGE } from '../../src/protocols/responses/stored.js';
import { AdapterRegistry } from '../../src/relay/index.js';
import { ResponseStore } from '../../src/relay/response-store.js';
import type { PreviousResponses } from '../../src/relay/state-access.js';
import { aCall } from '../support/calls.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responsesBody } from '../support/scripted-upstream.js';

const FOREIGN = { id: 'chn_foreign', protocol: 'messages', flags: {} };
const NATIVE = { id: 'chn_native', protocol: 'responses', flags: {} };
const MARKER = 'a prompt that nobody else may read';

const reference = (id: string) => ({ type: 'item_reference', id });
const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

describe('the memory of responses', () => {
  let relay: RelayApp;
  let memory: ResponseStore;
  let responses: ProtocolAdapter;
  let ann: TestCaller;
  let caller: Caller;

  beforeAll(async () => {
    relay = await RelayApp.start();
    memory = relay.get(ResponseStore);
    responses = relay.get(AdapterRegistry).clientAdapter('responses');
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    ann = await relay.caller();
    caller = await callerOf(ann);
  });

  const callerOf = async ({ key }: TestCaller): Promise<Caller> => {
    const found = await relay.get(KeyDirectory).find(key);
    if (found === undefined) throw new Error('The key is not known.');
    return found;
  };
  const call = (request: TreeObject, { key } = ann): Call =>
    aCall(
      responses,
      { model: 'm', ...request },
      {
        id: newId('req', Date.now()),
        headers: { authorization: `Bearer ${key}` },
      },
    );
  const recall = (
    request: TreeObject,
    as = { caller, test: ann },
  ): Promise<PreviousResponses | undefined> | undefined =>
    memory.resolve(call(request, as.test), as.caller, () => request)?.then(({ previous }) => previous);
  const recalled = async (request: TreeObject): Promise<PreviousResponses> => {
    const previous = await recall(request);
    if (previous === undefined) throw new Error('Nothing was named.');
    return previous;
  };
  /** Has a response kept that a channel gave to this request; gives the response. */
  const keep = async (request: TreeObject, id: string, { id: channel } = FOREIGN, isHere = true) => {
    const body = responsesBody({ id, text: `answer ${id}` });
    const keepable = {
      call: call(request),
      caller,
      responseAdapter: responses,
      origin: { channelId: channel, credentialId: null },
    };
    const input = isHere ? (): string => writeJson(RESPONSES_STORAGE.inputOf(request)) : undefined;
    await memory.store({ ...keepable, input }, Buffer.from(JSON.stringify(body)));
    return body['output'] as readonly { readonly id: string }[];
  };

  it('does no lookup for requests without a previous response', () => {
    expect(recall({ input: 'Hello' })).toBeUndefined();
    expect(recall({ input: [user('Hello')], store: true })).toBeUndefined();
  });

  it('puts a conversation together from response to answer (case 78)', async () => {
    const one = await keep({ input: MARKER }, 'resp_1');
    const second = (await recalled({ input: [user('b')], previous_response_id: 'resp_1' })).expanded();
    expect(second).toEqual({ input: [user(MARKER), ...one, user('b')] });
    const two = await keep(second, 'resp_2');
    const third = await recalled({ previous_response_id: 'resp_2', input: [user('c')] });
    expect(third.expanded()).toEqual({ input: [user(MARKER), ...one, user('b'), ...two, user('c')] });
    const byItem = await recalled({ input: [user('a'), { type: 'item_reference', id: two[0]?.id ?? '' }] });
    expect(byItem.expanded()).toEqual({ input: [user('a'), ...two] });
  });

  it('sends what is kept here to every upstream, as items where it cannot be referred to', async () => {
    await keep({ input: 'a' }, 'resp_1');
    const previous = await recalled({ previous_response_id: 'resp_1' });
    expect([previous.admits(FOREIGN), previous.admits(NATIVE)]).toEqual([true, true]);
  });

  it('sends what a channel keeps to that channel, and has no words for another', async () => {
    await keep({ input: 'a' }, 'resp_1', NATIVE, false);
    const previous = await recalled({ previous_response_id: 'resp_1' });
    expect([previous.admits(NATIVE), previous.admits({ ...NATIVE, id: 'chn_other' })]).toEqual([true, false]);
    expect(previous.admits(FOREIGN)).toBe(false);
    expect(() => previous.expanded()).toThrow('"resp_1"');
  });

  it('sends unknown names only to an upstream account that has one owner (case 78)', async () => {
    const previous = await recalled({ previous_response_id: 'resp_unknown' });
    expect([previous.admits(FOREIGN), previous.admits(NATIVE)]).toEqual([false, false]);
    const [native, foreign] = [NATIVE, FOREIGN].map((channel) => ({ ...channel, flags: { sharedState: true } }));
    expect([previous.admits(native!), previous.admits(foreign!)]).toEqual([true, false]);
    expect(() => previous.expanded()).toThrow(
      expect.objectContaining({ details: { param: 'previous_response_id', fault: 'previous_response_not_found' } }),
    );
  });

  it('knows nothing of ids that the database would not even look for', async () => {
    const previous = await recalled({ previous_response_id: 'resp_\0', input: [reference('msg_\0')] });
    expect([previous.admits(FOREIGN), previous.admits(NATIVE)]).toEqual([false, false]);
    expect(() => previous.expanded()).toThrow(
      expect.objectContaining({ details: { param: 'previous_response_id', fault: 'previous_response_not_found' } }),
    );
  });

  it('refuses to look for more items than a conversation has', async () => {
    const input = Array.from({ length: 20_001 }, (_, index) => reference(`msg_${index}`));
    await expect(recalled({ input })).rejects.toMatchObject({ kind: 'request_too_large' });
  });

  it('does not know another key’s responses (case 78)', async () => {
    await keep({ input: 'a' }, 'resp_1');
    const bob = await relay.caller();
    const previous = await recall({ previous_response_id: 'resp_1' }, { caller: await callerOf(bob), test: bob });
    expect(() => previous?.expanded()).toThrow('"resp_1" is not stored');
  });

  it('keeps what is wanted: unless the client says no, or its key', async () => {
    const { id, secret } = await relay
      .get(ApiKeyService)
      .create({ accountId: ann.accountId, name: 'silent', neverStores: true });
    const silent = await callerOf({ ...ann, keyId: id, key: secret.reveal() });
    const chat = relay.get(AdapterRegistry).clientAdapter('chat-completions');
    const keeps = (request: TreeObject, as = caller, protocol = responses): boolean =>
      memory.stores({ call: call({ input: 'a', ...request }), caller: as, responseAdapter: protocol });
    expect([keeps({}), keeps({ store: true }), keeps({ store: false })]).toEqual([true, true, false]);
    expect([keeps({}, silent), keeps({}, caller, chat)]).toEqual([false, false]);
  });

  const NOBODY = { channelId: 'chn_nobody', credentialId: null };

  it('does not fail when a response cannot be kept, or is none', async () => {
    const keepable = {
      call: call({ input: 'a' }),
      caller,
      responseAdapter: responses,
      origin: NOBODY,
      input: () => '[]',
    };
    await expect(memory.store(keepable, Buffer.from('data: [DONE]\n\n'))).resolves.toBeUndefined();
    const otherUser = {
      ...keepable,
      call: call({ input: 'a' }, { ...ann, key: 'sk-of-nobody-at-all-0000000000000000' }),
    };
    const bytes = Buffer.from(JSON.stringify(responsesBody({ id: 'resp_1' })));
    await expect(memory.store(otherUser, bytes)).resolves.toBeUndefined();
  });

  it('leaves no word of a prompt in the database', async () => {
    await keep({ input: MARKER }, 'resp_1');
    const tables = await relay
      .get(DataSource)
      .query<{ name: string }[]>(`SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`);
    for (const { name } of tables) {
      const [row] = await relay
        .get(DataSource)
        .query<{ dump: string | null }[]>(`SELECT string_agg(t::text, '') AS dump FROM ${name} t`);
      expect(row?.dump ?? '').not.toContain('nobody else');
      expect(row?.dump ?? '').not.toContain(Buffer.from('nobody else').toString('hex'));
    }
  });
});
