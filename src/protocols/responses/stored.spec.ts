import { AppError } from '../../platform/shared/index.js';
import type { StoredResponseText, TreeObject } from '../contract/index.js';
import { inputItems, RESPONSES_STORAGE as storage } from './stored.js';

const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const said = (id: string, text: string) => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const reference = (id: string) => ({ type: 'item_reference', id });

const EARLIER: StoredResponseText = {
  input: [user('Hello')],
  response: { id: 'resp_1', object: 'response', output: [said('msg_1', 'Hi'), said('msg_2', 'How are you?')] },
};
const NOTHING = { response: undefined, ofItems: new Map<string, StoredResponseText>() };
const keptFilters = {
  response: EARLIER,
  ofItems: new Map([
    ['msg_1', EARLIER],
    ['msg_2', EARLIER],
  ]),
};

describe('references of Responses requests', () => {
  it('are the continued response and items', () => {
    const input = [user('a'), reference('msg_1'), { id: 'msg_2' }, { ...said('msg_3', 'b') }];
    expect(storage.referencesIn({ previous_response_id: 'resp_1', input })).toEqual({
      responseId: 'resp_1',
      itemIds: ['msg_1', 'msg_2'],
    });
  });

  it('are empty for a complete request', () => {
    const nothing = { responseId: undefined, itemIds: [] };
    expect(storage.referencesIn({ previous_response_id: null, input: 'Hello' })).toEqual(nothing);
    expect(
      storage.referencesIn({
        input: [user('Hello'), said('msg_1', 'Hi'), { role: 'user', content: 'x', id: 'msg_9' }],
      }),
    ).toEqual(nothing);
    expect(storage.referencesIn({ prompt: { id: 'pmpt_1' } })).toEqual(nothing);
  });
});

describe('expanded Responses requests (case 78)', () => {
  it('contain the previous input and response, then their own input', () => {
    const request: TreeObject = { model: 'm', previous_response_id: 'resp_1', input: 'Fine.', store: true };
    expect(storage.expand(request, keptFilters)).toEqual({
      model: 'm',
      store: true,
      input: [user('Hello'), said('msg_1', 'Hi'), said('msg_2', 'How are you?'), user('Fine.')],
    });
  });

  it('may have no input of their own', () => {
    expect(storage.inputOf(storage.expand({ previous_response_id: 'resp_1' }, keptFilters))).toHaveLength(3);
  });

  it('contain items in place of references', () => {
    const input = [user('a'), reference('msg_2'), user('b'), { id: 'msg_1' }];
    const { ofItems } = keptFilters;
    expect(storage.expand({ model: 'm', input }, { response: undefined, ofItems })).toEqual({
      model: 'm',
      input: [user('a'), said('msg_2', 'How are you?'), user('b'), said('msg_1', 'Hi')],
    });
  });

  it.each([
    [{ previous_response_id: 'resp_9', input: 'x' }, 'previous_response_id', '"resp_9"'],
    [{ input: [user('a'), reference('msg_9')] }, 'input[1].id', '"msg_9"'],
  ])('reject missing content with advice: %j', (request, param, name) => {
    expect(() => storage.expand(request, NOTHING)).toThrow(
      expect.objectContaining({
        kind: 'invalid_request',
        message: expect.stringMatching(new RegExp(`${name}.*"store": false`)) as string,
        details: { param, fault: 'previous_response_not_found' },
      }),
    );
  });

  it('reject an item that its response lacks', () => {
    const ofItems = new Map([['msg_9', EARLIER]]);
    expect(() => storage.expand({ input: [reference('msg_9')] }, { response: undefined, ofItems })).toThrow('"msg_9"');
  });

  it('reject a repeated item', () => {
    expect(() => storage.expand({ input: [reference('msg_1'), reference('msg_1')] }, keptFilters)).toThrow(
      expect.objectContaining({ details: { param: 'input[1].id', fault: 'invalid_value' } }),
    );
  });
});

describe('responses in final bytes', () => {
  const response = { ...EARLIER.response, status: 'completed' };
  const event = (data: object | string): string =>
    typeof data === 'string'
      ? `data: ${data}\n\n`
      : `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`;
  const given = { id: 'resp_1', itemIds: ['msg_1', 'msg_2'], text: JSON.stringify(response) };
  const givenIn = (bytes: Buffer): unknown => {
    const found = storage.responseIn(bytes);
    return found && { ...found, text: found.text() };
  };

  it('are read whole if unstreamed', () => {
    expect(givenIn(Buffer.from(JSON.stringify(response)))).toEqual(given);
  });

  it.each(['response.completed', 'response.incomplete'])('are read from %s of a stream', (type) => {
    const done = {
      type: 'response.output_item.done',
      response: { id: 'resp_0', output: [] },
      item: said('msg_2', 'x'),
    };
    const bytes = Buffer.from(event(done) + event({ type, sequence_number: 9, response }) + event('[DONE]'));
    expect(givenIn(bytes)).toEqual(given);
  });

  it('omit items without ID', () => {
    const output = [{ type: 'message' }, 'odd', said('msg_1', 'Hi')];
    expect(storage.responseIn(Buffer.from(JSON.stringify({ id: 'resp_1', output })))?.itemIds).toEqual(['msg_1']);
  });

  it.each([
    ['the end of one that was long', ' "usage":{}}'],
    ['cut JSON', '{"id":"resp_1","output":['],
    ['no response', '{"id":"resp_1"}'],
    ['another event', event({ type: 'response.created', response })],
    ['nothing', ''],
  ])('are undefined in %s', (_, text) => {
    expect(storage.responseIn(Buffer.from(text))).toBeUndefined();
  });
});

const INPUT = [
  { role: 'user', content: 'a' },
  { type: 'message', id: 'msg_1' },
  { type: 'function_call', id: 'fc_1' },
];
const ids = (query: string, input: readonly object[] = INPUT): unknown => {
  const { data } = inputItems('resp_7', input as never, new URLSearchParams(query));
  return (data as readonly { id: string }[]).map(({ id }) => id);
};

describe('input items of a response', () => {
  it('are listed newest first, with type and a stable ID', () => {
    expect(inputItems('resp_7', INPUT, new URLSearchParams())).toEqual({
      object: 'list',
      data: [
        { type: 'function_call', id: 'fc_1' },
        { type: 'message', id: 'msg_1' },
        { type: 'message', id: 'item_7_0', role: 'user', content: 'a' },
      ],
      first_id: 'fc_1',
      last_id: 'item_7_0',
      has_more: false,
    });
  });

  it('are listed in order, with limit and cursor if requested', () => {
    expect(ids('order=asc')).toEqual(['item_7_0', 'msg_1', 'fc_1']);
    expect(ids('limit=2')).toEqual(['fc_1', 'msg_1']);
    expect(ids('after=msg_1')).toEqual(['item_7_0']);
    expect(ids('after=item_7_0')).toEqual([]);
    expect(inputItems('resp_7', INPUT, new URLSearchParams('limit=2'))).toMatchObject({ has_more: true });
    expect(inputItems('resp_7', INPUT, new URLSearchParams('limit=2&after=fc_1'))).toMatchObject({ has_more: false });
  });

  it('are listed twenty at a time by default', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ type: 'message', id: `msg_${index}` }));
    expect(ids('', many)).toHaveLength(20);
    expect(ids('limit=100', many)).toHaveLength(30);
  });

  it('are empty without input', () => {
    expect(inputItems('resp_7', [], new URLSearchParams())).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it.each([
    ['order=up', 'order'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['after=msg_none', 'after'],
  ])('reject %s', (query, param) => {
    expect(() => ids(query)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', details: { param, fault: 'invalid_value' } }),
    );
    expect(() => ids(query)).toThrow(AppError);
  });
});
