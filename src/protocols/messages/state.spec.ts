import { aCall, refusalOf } from '../../../test/support/calls.js';
import type { JsonObject } from '../../platform/shared/index.js';
import { type CallSignal, type CreatedState, SseSplitter } from '../contract/index.js';
import { MessagesProtocol } from './protocol.js';
import { MessagesVerbatim } from './verbatim.js';

// Shapes of @anthropic-ai/sdk 1.12.0.

const CODE = { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] };
const ENDS = '2026-11-23T12:00:00Z';
const CONTAINER = { id: 'container_1', expires_at: ENDS, skills: null };

const callOf = (more: JsonObject): ReturnType<typeof aCall> =>
  aCall(new MessagesProtocol(), {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  });
const statesIn = (signals: readonly CallSignal[]): readonly CreatedState[] =>
  signals.flatMap((signal) => (signal.type === 'state' ? signal.created : []));
const ofWhole = (request: JsonObject, response: JsonObject): readonly CreatedState[] =>
  statesIn(new MessagesVerbatim().meterResponse(callOf(request), Buffer.from(JSON.stringify(response))));
const ofStream = (request: JsonObject, events: readonly JsonObject[]): readonly CreatedState[] => {
  const meter = new MessagesVerbatim().meterStream(callOf(request));
  const text = events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return statesIn(new SseSplitter().next(Buffer.from(text)).flatMap((event) => meter.next(event).signals));
};
const result = (kind: string, fileId: unknown): JsonObject => ({
  type: `${kind}_tool_result`,
  tool_use_id: 'srvtoolu_1',
  content: { type: `${kind}_result`, content: [{ type: `${kind}_output`, file_id: fileId }] },
});

describe('state created by Messages responses', () => {
  it('includes containers with their expiry, and files written by code', () => {
    const content = [
      result('code_execution', 'file_1'),
      result('bash_code_execution', 'file_2'),
      { type: 'container_upload', file_id: 'file_3' },
    ];
    const states = [
      { kind: 'container', id: 'container_1', endsAt: Date.parse(ENDS) },
      { kind: 'file', id: 'file_1' },
      { kind: 'file', id: 'file_2' },
      { kind: 'file', id: 'file_3' },
    ];
    expect(ofWhole(CODE, { id: 'msg_1', container: CONTAINER, content })).toEqual(states);
    const events = [
      { type: 'message_start', message: { id: 'msg_1', container: CONTAINER, content: [] } },
      ...content.map((block, index) => ({ type: 'content_block_start', index, content_block: block })),
    ];
    expect(ofStream(CODE, events)).toEqual(states);
  });

  it('includes the container of the last delta', () => {
    const events = [{ type: 'message_delta', delta: { container: CONTAINER, stop_reason: 'end_turn' }, usage: {} }];
    expect(ofStream(CODE, events)).toMatchObject([{ kind: 'container', id: 'container_1' }]);
  });

  it('includes the message if the request has a thread', () => {
    const thread = { thread: { type: 'create' } };
    expect(ofWhole(thread, { id: 'msg_1', content: [] })).toEqual([{ kind: 'thread', id: 'msg_1' }]);
    expect(ofStream(thread, [{ type: 'message_start', message: { id: 'msg_1' } }])).toEqual([
      { kind: 'thread', id: 'msg_1' },
    ]);
  });

  it('is not read if the request cannot create any', () => {
    const response = { id: 'msg_1', container: CONTAINER, content: [result('code_execution', 'file_1')] };
    expect(ofWhole({}, response)).toEqual([]);
    expect(ofStream({}, [{ type: 'message_start', message: response }])).toEqual([]);
  });

  it.each<readonly [string, JsonObject]>([
    ['results of other tools', { content: [{ type: 'mcp_tool_result', content: [{ file_id: 'file_1' }] }] }],
    ['cited documents', { content: [{ type: 'text', text: '', citations: [{ file_id: 'file_1' }] }] }],
    ['what is no id', { container: { id: 7 }, content: [result('code_execution', null), null, 'x'] }],
    ['ids of no usual length', { container: { id: 'c'.repeat(513) }, content: [result('code_execution', '')] }],
    ['errors of tools', { content: [{ ...result('code_execution', 'file_1'), content: { error_code: 'x' } }] }],
  ])('excludes %s', (_, response) => {
    expect(ofWhole(CODE, { id: 'msg_1', ...response })).toEqual([]);
  });

  it('has no expiry if the time is invalid', () => {
    for (const ends of ['soon', null, 7, '+275760-01-01T00:00:00Z'])
      expect(ofWhole(CODE, { container: { id: 'container_1', expires_at: ends } })).toEqual([
        { kind: 'container', id: 'container_1' },
      ]);
  });

  it('excludes tool arguments and examples', () => {
    const input = { file_id: 'a name of the client', deeper: [{ file_id: 'another' }] };
    const tool = { name: 'open', input_schema: { default: { file_id: 'x' } }, input_examples: [{ file_id: 'y' }] };
    const turn = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'open', input }] };
    const said = { role: 'user', content: 'Hello' };
    expect(callOf({ tools: [tool], messages: [said, turn] }).head.demands).toBeUndefined();
    const upload = { role: 'user', content: [{ type: 'container_upload', file_id: 'file_1' }] };
    expect(callOf({ messages: [said, turn, upload] }).head.demands?.scopedIds).toEqual([
      { kind: 'file', id: 'file_1', path: 'file_id' },
    ]);
  });

  it('makes the prompt of a thread one of the size of what it continues', () => {
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    expect(callOf({ thread }).head).toMatchObject({
      outside: { previousResponseId: 'msg_1' },
      demands: { scopedIds: [{ kind: 'thread', id: 'msg_1', path: 'thread' }] },
    });
    expect(callOf({ thread: { type: 'create' } }).head.outside).toBeUndefined();
  });
});

describe('threads of Messages requests', () => {
  const upload = { role: 'user', content: [{ type: 'container_upload', file_id: 'file_1' }] };
  const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'other' };

  it.each<readonly [string, JsonObject, string]>([
    ['hosted tools', CODE, 'tools'],
    ['an advisor', { tools: [advisor] }, 'tools'],
    ['other models', { fallbacks: [{ model: 'other' }] }, 'fallbacks'],
    ['files', { messages: [upload] }, 'file_id'],
    ['containers', { container: 'container_1' }, 'container'],
    [
      'an effort in messages',
      { messages: [{ role: 'system', content: [], output_config: { effort: 'max' } }] },
      'messages',
    ],
  ])('are refused when the request has %s', (_, more, member) => {
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }])
      expect(refusalOf(() => callOf({ thread, ...more }))).toMatchObject({
        kind: 'invalid_request',
        wireDetails: { error_code: 'thread_unsupported_request', unsupported: [member] },
      });
    expect(() => callOf(more)).not.toThrow();
  });

  it('may have tools of the client', () => {
    const thread = { type: 'create' };
    expect(callOf({ thread, tools: [{ name: 'open', input_schema: {} }] }).head.store).toBe(true);
  });

  it('may write to a cache when they are continued, by markers that are not in the request', () => {
    const lifetimeOf = (thread: object) => callOf({ thread }).head.cacheLifetime;
    expect(lifetimeOf({ type: 'create' })).toBe('none');
    expect(lifetimeOf({ type: 'continue', previous_message_id: 'msg_1' })).toBe('1h');
  });
});

describe('hosted tools that Messages requests define in messages', () => {
  const addition = (definition: object): JsonObject => ({
    type: 'tool_addition',
    tool: { type: 'tool_definition', definition },
  });
  const search = addition({ type: 'web_search_20250305', name: 'web_search', max_uses: 2 });
  const hostedIn = (role: string, ...content: readonly JsonObject[]): unknown =>
    callOf({
      messages: [
        { role: 'user', content: 'Hello' },
        { role, content },
      ],
    }).head.demands?.hostedTools;
  const FOUND = [{ name: 'web_search', path: 'messages[1].content', maxUses: 2 }];

  it('are priced like others', () => {
    expect(hostedIn('system', search)).toEqual(FOUND);
    expect(hostedIn('assistant', { type: 'compaction', content: 'x', tool_changes: [search] })).toEqual(FOUND);
    expect(hostedIn('system', addition({ name: 'mine', input_schema: {} }))).toBeUndefined();
    expect(
      hostedIn('user', { type: 'text', text: 'A "tool_definition" of {"type":"web_search_20250305"}' }),
    ).toBeUndefined();
  });

  it('are found when their type is escaped', () => {
    const escaped = (text: string): string => text.replace('tool_definition', String.raw`tool\u005fdefinition`);
    const body = escaped(
      JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'system', content: [search] }] }),
    );
    const reader = new MessagesProtocol().headReader({ method: 'POST', path: '', query: '', headers: {} });
    expect(reader.end({ bytes: Buffer.from(body) }).demands?.hostedTools).toMatchObject([{ name: 'web_search' }]);
  });

  it('are found at the end of the longest conversation', () => {
    const turn = { role: 'user', content: 'x' };
    const messages = [...Array.from({ length: 99_999 }, () => turn), { role: 'system', content: [search] }];
    expect(callOf({ messages }).head.demands?.hostedTools).toMatchObject([{ name: 'web_search' }]);
  });

  it('must not have a member twice', () => {
    const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'system', content: [search] }] });
    const hidden = body.replace('"definition":', '"definition":{"type":"web_search_20250305"},"definition":{},"x":');
    const reader = new MessagesProtocol().headReader({ method: 'POST', path: '', query: '', headers: {} });
    expect(refusalOf(() => reader.end({ bytes: Buffer.from(hidden) })).details).toMatchObject({
      param: 'messages[0].content.definition',
    });
  });

  it('may be mentioned in texts beside input with names in several cases', () => {
    const input = { text: '"tool_definition"', id: 1, ID: 2 };
    expect(hostedIn('assistant', { type: 'tool_use', id: 'c', name: 'f', input })).toBeUndefined();
  });

  it('must not name a model', () => {
    const advisor = addition({ type: 'advisor_20260301', name: 'advisor', model: 'other' });
    expect(refusalOf(() => hostedIn('system', advisor)).details).toMatchObject({ param: 'messages[1].content' });
  });
});
