import { refusalOf } from '../../../test/support/calls.js';
import { type Call, type CallHead, SseSplitter, type TokenUsage } from '../contract/index.js';
import { MessagesProtocol } from './protocol.js';
import { MessagesUpstream } from './upstream.js';

const REQUEST = { method: 'POST', path: '/', query: '', headers: {} };

const upstream = new MessagesUpstream();

const headOf = (body: object): CallHead =>
  new MessagesProtocol()
    .headReader(REQUEST)
    .end({ bytes: Buffer.from(JSON.stringify({ model: 'm', max_tokens: 100_000, messages: [], ...body })) });
const headWith = (block: object): CallHead => headOf({ messages: [{ role: 'user', content: [block] }] });

function wholeUsage(usage: object): TokenUsage | undefined {
  const [signal] = upstream.verbatim.meterResponse(
    { head: {} } as Call,
    Buffer.from(JSON.stringify({ type: 'message', usage })),
  );
  return signal?.type === 'usage' ? signal.usage : undefined;
}

function streamedUsages(started: object, ended: object): (TokenUsage | undefined)[] {
  const events = [
    { type: 'message_start', message: { usage: started } },
    { type: 'message_delta', delta: {}, usage: ended },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const meter = upstream.verbatim.meterStream({ head: {} as CallHead } as Call);
  const signals = new SseSplitter().next(Buffer.from(text)).flatMap((event) => meter.next(event).signals);
  return signals.map((signal) => (signal.type === 'usage' ? signal.usage : undefined));
}

describe('Messages request head', () => {
  it('survives edits whose type cannot be text', () => {
    const { compacts } = headOf({ context_management: { edits: [{ type: { toString: 1 } }] } });
    expect(compacts).not.toBe(true);
  });

  it.each([
    [{ output_config: { effort: 'xhigh' } }, 'xhigh'],
    [{ output_config: { effort: 'low' }, thinking: { type: 'enabled', budget_tokens: 60_000 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 4096 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 4097 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 16_384 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 32_768 } }, 'high'],
    [{ thinking: { type: 'enabled', budget_tokens: 32_769 } }, 'xhigh'],
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{}, undefined],
  ])('reads the effort by name or budget: %j is %s', (body, effort) => {
    expect(headOf(body).effort).toBe(effort);
  });

  it('reads the service tier', () => {
    expect(headOf({ service_tier: 'standard_only' }).serviceTier).toBe('standard_only');
  });

  it('detects files and fetched documents, but not image URLs', () => {
    const unknown = { previousResponseId: undefined };
    expect(headWith({ type: 'document', source: { type: 'file', file_id: 'file_1' } }).outside).toEqual(unknown);
    expect(headWith({ type: 'document', source: { type: 'url', url: 'https://x/a.pdf' } }).outside).toEqual(unknown);
    expect(headWith({ type: 'container_upload', file_id: 'file_1' }).outside).toEqual(unknown);
    expect(headWith({ type: 'document', source: { type: 'base64', data: 'AAAA' } }).outside).toBeUndefined();
    const image = headWith({ type: 'image', source: { type: 'url', url: 'https://x/a.png' } });
    expect([image.size.images, image.outside]).toEqual([1, undefined]);
  });
});

describe('efforts of Messages requests', () => {
  const effortsOf = ({ effort, otherEfforts }: CallHead): unknown => [effort, otherEfforts];
  const setting = (effort: unknown): object => ({ role: 'system', output_config: { effort } });
  const user = { role: 'user', content: 'Hello' };

  it('are all read when messages change them', () => {
    const output_config = { effort: 'low' };
    expect(effortsOf(headOf({ output_config, messages: [user] }))).toEqual(['low', undefined]);
    expect(effortsOf(headOf({ messages: [user, setting('max')] }))).toEqual(['max', [undefined]]);
    const messages = [setting('max'), user, setting(null), setting('medium')];
    expect(effortsOf(headOf({ output_config, messages }))).toEqual(['medium', ['low', 'max']]);
  });

  it('are refused when they are no short strings or too many', () => {
    for (const effort of [3, 'x'.repeat(65)])
      expect(refusalOf(() => headOf({ messages: [user, setting(effort)] })).details).toMatchObject({
        param: 'messages[1].output_config.effort',
      });
    const messages = Array.from({ length: 17 }, (_, index) => setting(`e${index}`));
    expect(refusalOf(() => headOf({ messages })).details).toMatchObject({ fault: 'invalid_value' });
  });

  it('are read when fallbacks have their own', () => {
    const fallbacks = [
      { model: 'a', output_config: { effort: 'max' } },
      { model: 'b', output_config: null },
    ];
    const efforts = headOf({ fallbacks }).demands?.models.map(({ effort }) => effort);
    expect(efforts).toEqual(['max', null]);
    const hidden = '{"model":"a","output_config":{"effort":"max","effort":"low"}}';
    const body = Buffer.from(`{"model":"m","max_tokens":9,"messages":[],"fallbacks":[${hidden}]}`);
    const refused = refusalOf(() => new MessagesProtocol().headReader(REQUEST).end({ bytes: body }));
    expect(refused.details).toMatchObject({ param: 'fallbacks[0].effort' });
  });
});

describe('charged items of Messages responses', () => {
  it('reports the tier and hosted tools', () => {
    const usage = {
      input_tokens: 5,
      output_tokens: 7,
      service_tier: 'priority',
      server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
    };
    expect(wholeUsage(usage)).toMatchObject({ serviceTier: 'priority', toolUses: { web_search: 3 } });
    expect(wholeUsage({ input_tokens: 5, output_tokens: 7, server_tool_use: null })).not.toHaveProperty('toolUses');
  });

  it('keeps initial values of a stream and replaces repeated ones', () => {
    const started = { input_tokens: 5, output_tokens: 1, service_tier: 'priority' };
    const ended = { output_tokens: 7, server_tool_use: { web_search_requests: 2 } };
    expect(streamedUsages(started, ended)).toMatchObject([
      { serviceTier: 'priority', output: 1 },
      { serviceTier: 'priority', output: 7, toolUses: { web_search: 2 } },
    ]);
    const again = { ...started, server_tool_use: { web_search_requests: 1 } };
    expect(streamedUsages(again, ended)[1]?.toolUses).toEqual({ web_search: 2 });
  });
});
