import { aCall, aTarget, refusalOf } from '../../../test/support/calls.js';
import type { JsonObject } from '../../platform/shared/index.js';
import { type CallHead, type CallSignal, type CreatedState, SseSplitter } from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';
import { ResponsesVerbatim } from './verbatim.js';

// Shapes of openai 7.57.0.

const CODE = { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] };

const callOf = (more: JsonObject): ReturnType<typeof aCall> =>
  aCall(new ResponsesProtocol(), { model: 'm', input: 'Hello', ...more });
const statesIn = (signals: readonly CallSignal[]): readonly CreatedState[] =>
  signals.flatMap((signal) => (signal.type === 'state' ? signal.created : []));
const ofWhole = (request: JsonObject, response: JsonObject): readonly CreatedState[] =>
  statesIn(new ResponsesVerbatim().meterResponse(callOf(request), Buffer.from(JSON.stringify(response))));
const ofStream = (request: JsonObject, events: readonly JsonObject[]): readonly CreatedState[] => {
  const meter = new ResponsesVerbatim().meterStream(callOf(request));
  const text = events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return statesIn(new SseSplitter().next(Buffer.from(text)).flatMap((event) => meter.next(event).signals));
};
const message = (...annotations: readonly JsonObject[]): JsonObject => ({
  type: 'message',
  id: 'msg_1',
  content: [{ type: 'output_text', text: '', annotations }],
});

const ITEMS: readonly (readonly [JsonObject, readonly CreatedState[]])[] = [
  [{ type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' }, [{ kind: 'container', id: 'cntr_1' }]],
  [
    { type: 'shell_call', environment: { type: 'container_reference', container_id: 'cntr_2' } },
    [{ kind: 'container', id: 'cntr_2' }],
  ],
  [
    message({ type: 'container_file_citation', container_id: 'cntr_3', file_id: 'cfile_3' }),
    [
      { kind: 'container', id: 'cntr_3' },
      { kind: 'file', id: 'cfile_3' },
    ],
  ],
  [message({ type: 'file_path', file_id: 'file_4', index: 0 }), [{ kind: 'file', id: 'file_4' }]],
  // Existing files.
  [message({ type: 'file_citation', file_id: 'file_5' }), []],
  [{ type: 'file_search_call', results: [{ file_id: 'file_6' }] }, []],
  [{ type: 'shell_call', environment: null }, []],
  [{ type: 'mcp_call', container_id: 'cntr_7' }, []],
];

describe('state created by Responses responses', () => {
  it.each(ITEMS)('is read from %j, streamed or not', (item, states) => {
    expect(ofWhole(CODE, { status: 'completed', output: [item] })).toEqual(states);
    expect(ofStream(CODE, [{ type: 'response.output_item.done', item }])).toEqual(states);
    expect(ofStream(CODE, [{ type: 'response.completed', response: { output: [item] } }])).toEqual(states);
  });

  it('includes the conversation', () => {
    const conversation = { id: 'conv_1' };
    const states = [{ kind: 'conversation', id: 'conv_1' }];
    expect(ofWhole(CODE, { conversation, output: [] })).toEqual(states);
    expect(ofStream(CODE, [{ type: 'response.completed', response: { conversation } }])).toEqual(states);
  });

  it('is not read if the request cannot create any', () => {
    const [[item]] = ITEMS as [[JsonObject, unknown]];
    expect(ofWhole({}, { output: [item], conversation: { id: 'conv_1' } })).toEqual([]);
    expect(ofStream({}, [{ type: 'response.output_item.done', item }])).toEqual([]);
  });

  it('includes items of a conversation', () => {
    const input = [ITEMS[0]![0], ITEMS[2]![0]];
    expect(callOf({ input }).head.demands?.scopedIds).toEqual([
      { kind: 'container', id: 'cntr_1', path: 'container_id' },
      { kind: 'container', id: 'cntr_3', path: 'container_id' },
      { kind: 'file', id: 'cfile_3', path: 'file_id' },
    ]);
  });

  it('is found in the first input item, and in an object called input', () => {
    const file = { type: 'input_file', file_id: 'file_1' };
    const states = [{ kind: 'file', id: 'file_1', path: 'file_id' }];
    expect(callOf({ input: [file] }).head.demands?.scopedIds).toEqual(states);
    expect(callOf({ input: [{ type: 'x', input: file }] }).head.demands?.scopedIds).toEqual(states);
  });

  it('rejects an object that names state twice', () => {
    const call = '{"model":"m","input":"","tools":[{"type":"code_interpreter","container":"a","Container":"b"}]}';
    const reader = new ResponsesProtocol().headReader({ method: 'POST', path: '', query: '', headers: {} });
    expect(refusalOf(() => reader.end({ bytes: Buffer.from(call) }))).toMatchObject({
      kind: 'invalid_request',
      details: { param: 'tools[0].Container' },
    });
  });
});

describe('hosted tools of Responses requests', () => {
  const hostedIn = (more: JsonObject): unknown => callOf(more).head.demands?.hostedTools;

  it.each(['additional_tools', 'tool_search_output'])('are also found in items of the type %s', (type) => {
    const tools = [{ type: 'function', name: 'f' }, { type: 'web_search' }];
    expect(
      hostedIn({
        input: [
          { role: 'user', content: 'Hi' },
          { type, tools },
        ],
      }),
    ).toEqual([{ name: 'web_search', path: 'input[1].tools', maxUses: undefined }]);
    expect(hostedIn({ input: [{ type, tools: tools.slice(0, 1) }] })).toBeUndefined();
  });

  it('exclude storage when they are in the input', () => {
    const input = [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }];
    const call = callOf({ input });
    expect(call.head.store).toBe(false);
    const { body } = new ResponsesVerbatim().rewriteRequest(call, aTarget());
    expect(JSON.parse(Buffer.concat(body.pieces()).toString())).toMatchObject({ store: false });
    expect(callOf({ tools: [{ type: 'web_search' }] }).head.store).toBeUndefined();
    expect(refusalOf(() => callOf({ input, conversation: 'conv_1' }))).toMatchObject({
      kind: 'invalid_request',
      details: { param: 'input[0].tools' },
    });
    expect(callOf({ tools: [{ type: 'web_search' }], conversation: 'conv_1' }).head.demands).toBeDefined();
  });

  it('are found at the end of the longest input, as are references and triggers of compactions', () => {
    const endingWith = (item: JsonObject): CallHead => {
      const items = Array.from({ length: 99_999 }, () => ({ role: 'user', content: 'x' }));
      return callOf({ input: [...items, item] }).head;
    };
    const search = { type: 'additional_tools', tools: [{ type: 'web_search' }] };
    expect(endingWith(search).demands?.hostedTools).toMatchObject([{ name: 'web_search' }]);
    expect(endingWith({ id: 'msg_other' }).outside).toEqual({ previousResponseId: undefined });
    expect(endingWith({ type: 'compaction_trigger' }).compacts).toBe(true);
  });

  it('have an effort that items of configuration updates may change', () => {
    const update = (effort: string): JsonObject => ({ type: 'configuration_update', reasoning: { effort } });
    const input = [{ role: 'user', content: 'Hi' }, update('xhigh'), update('medium')];
    const { effort, otherEfforts } = callOf({ reasoning: { effort: 'low' }, input }).head;
    expect([effort, otherEfforts]).toEqual(['medium', ['low', 'xhigh']]);
    expect(callOf({ input }).head.store).toBe(false);
    expect(refusalOf(() => callOf({ input, conversation: 'conv_1' })).details).toMatchObject({
      param: 'input[1].reasoning.effort',
    });
  });

  it('must not have a member twice in items, except properties in several cases', () => {
    const readItem = (tools: string): CallHead => {
      const body = Buffer.from(`{"model":"m","input":[{"type":"additional_tools","tools":[${tools}]}]}`);
      const request = { method: 'POST', path: '', query: '', headers: {} };
      return new ResponsesProtocol().headReader(request).end({ bytes: body });
    };
    for (const hidden of ['{"type":"web_search","type":"function"}', '{"type":"function","Type":"web_search"}'])
      expect(refusalOf(() => readItem(hidden)).details).toMatchObject({ fault: 'invalid_value' });
    const schema = '{"properties":{"id":{"type":"string"},"ID":{"type":"string"}}}';
    expect(readItem(`{"type":"function","name":"f","parameters":${schema}}`).demands).toBeUndefined();
  });

  it('include shells, unless the client runs them', () => {
    expect(hostedIn({ tools: [{ type: 'shell', environment: { type: 'local' } }] })).toBeUndefined();
    for (const environment of [undefined, null, { type: 'container_auto' }])
      expect(hostedIn({ tools: [{ type: 'shell', environment }] })).toMatchObject([{ name: 'shell' }]);
  });
});
