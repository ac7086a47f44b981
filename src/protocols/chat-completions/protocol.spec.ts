import { aCall, aRequestLine, listedModels, refusalOf } from '../../../test/support/calls.js';
import { AppError } from '../../platform/shared/index.js';
import type { CallHead } from '../contract/index.js';
import { ChatCompletionsProtocol } from './protocol.js';

const protocol = new ChatCompletionsProtocol();
const head = (body: object): CallHead => aCall(protocol, body).head;
const least = { model: 'm', messages: [] };

describe('Chat Completions call head', () => {
  it('has defaults', () => {
    expect(head(least)).toMatchObject({
      model: 'm',
      stream: false,
      outputLimit: undefined,
      choices: 1,
      effort: undefined,
    });
  });

  it("reads the client's settings", () => {
    const body = { ...least, stream: true, n: 3, max_completion_tokens: 50, reasoning_effort: 'high' };
    expect(head(body)).toMatchObject({ stream: true, choices: 3, outputLimit: 50, effort: 'high' });
    expect(head({ ...least, max_tokens: 70, stream: null })).toMatchObject({ stream: false, outputLimit: 70 });
  });

  it('uses the larger of two output limits', () => {
    expect(head({ ...least, max_tokens: 70, max_completion_tokens: 50 }).outputLimit).toBe(70);
    expect(head({ ...least, max_tokens: 70, max_completion_tokens: null }).outputLimit).toBe(70);
  });

  it.each([
    [{ messages: [] }, 'model', 'missing_required_parameter'],
    [{ model: '', messages: [] }, 'model', 'invalid_value'],
    [{ model: 'm'.repeat(257), messages: [] }, 'model', 'invalid_value'],
    [{ model: 'm' }, 'messages', 'missing_required_parameter'],
    [{ model: 'm', input: 'Hi' }, 'messages', 'missing_required_parameter'],
    [{ model: 'm', messages: 'Hi' }, 'messages', 'invalid_value'],
    [{ ...least, stream: 'true' }, 'stream', 'invalid_value'],
    [{ ...least, n: 0 }, 'n', 'invalid_value'],
    [{ ...least, max_tokens: -1 }, 'max_tokens', 'invalid_value'],
    [{ ...least, reasoning_effort: 3 }, 'reasoning_effort', 'invalid_value'],
  ])('rejects %j', (body, param, fault) => {
    expect(refusalOf(() => head(body))).toMatchObject({ kind: 'invalid_request', details: { param, fault } });
  });
});

describe('Chat Completions client half', () => {
  const call = aCall(protocol, least);

  it('claims chat paths only', () => {
    expect(protocol.claims(call.request)).toBe(true);
    expect(protocol.claims(aRequestLine({ path: '/v1/models' }))).toBe(false);
    expect(protocol.claims(aRequestLine({ path: '/v1/chatter' }))).toBe(false);
  });

  it('ends a failed stream with one unnamed event and no marker (cases 23, 29 and 98)', () => {
    const error = new AppError('upstream_truncated', 'The upstream closed the stream.');
    expect(Buffer.from(protocol.renderStreamError(call, error)).toString()).toBe(
      'data: {"error":{"message":"The upstream closed the stream. (request id: req_1)","type":"server_error","param":null,"code":"upstream_truncated"}}\n\n',
    );
  });

  it('keeps an idle stream alive with a comment (case 24)', () => {
    expect(Buffer.from(protocol.keepAlive()).toString()).toBe(': keepalive\n\n');
  });

  it('lists all models', () => {
    const models = listedModels(30);
    expect(protocol.renderModels(models, aRequestLine())['data']).toHaveLength(30);
    expect(models.map((model) => protocol.renderModel(model)['id'])[29]).toBe('m/29');
  });
});
