import { aCall, aRequestLine, refusalOf } from '../../../test/support/calls.js';
import { type CallHead, SseEvent, SseSplitter, type StreamTail } from '../contract/index.js';
import { AppError, type ErrorKind, type JsonObject } from '../../platform/shared/index.js';
import { ResponsesProtocol } from './protocol.js';

const protocol = new ResponsesProtocol();
const head = (body: object): CallHead => aCall(protocol, body).head;
const least = { model: 'm', input: 'Hi' };

describe('Responses call head', () => {
  it("reads the client's settings", () => {
    expect(head(least)).toMatchObject({
      model: 'm',
      stream: false,
      outputLimit: undefined,
      choices: 1,
      effort: undefined,
    });
    const body = {
      ...least,
      input: [],
      stream: true,
      max_output_tokens: 50,
      reasoning: { effort: 'xhigh', summary: null },
    };
    expect(head(body)).toMatchObject({ stream: true, outputLimit: 50, effort: 'xhigh' });
  });

  it('requires no input if the upstream stores one', () => {
    expect(head({ model: 'm', prompt: { id: 'pmpt_1' } }).model).toBe('m');
    expect(head({ model: 'm', previous_response_id: 'resp_1' }).model).toBe('m');
    expect(head({ ...least, background: false, client_metadata: { x: 1 } }).model).toBe('m');
  });

  it.each([
    [{ input: 'Hi' }, 'model', 'missing_required_parameter'],
    [{ model: 'm' }, 'input', 'missing_required_parameter'],
    [{ model: 'm', input: null, previous_response_id: null }, 'input', 'missing_required_parameter'],
    [{ model: 'm', input: 7 }, 'input', 'invalid_value'],
    [{ model: 'm', input: {}, prompt: { id: 'x' } }, 'input', 'invalid_value'],
    [{ ...least, background: true, store: false }, 'background', 'invalid_value'],
    [{ ...least, background: 'yes' }, 'background', 'invalid_value'],
    [{ ...least, max_output_tokens: '9' }, 'max_output_tokens', 'invalid_value'],
  ])('rejects %j', (body, param, fault) => {
    expect(refusalOf(() => head(body))).toMatchObject({ kind: 'invalid_request', details: { param, fault } });
  });

  it('claims response paths only', () => {
    expect(['/v1/responses', '/v1/responses/resp_1'].every((path) => protocol.claims(aRequestLine({ path })))).toBe(
      true,
    );
    expect(protocol.claims(aRequestLine({ path: '/v1/responsesx' }))).toBe(false);
  });
});

describe('end of a failed Responses stream', () => {
  const call = aCall(protocol, { ...least, max_output_tokens: 50 }, { id: 'req_018f', createdAt: 1_767_323_045_678 });
  const event = (data: JsonObject): SseEvent => new SseEvent(Buffer.from(`data: ${JSON.stringify(data)}\n\n`));
  const created = event({
    type: 'response.created',
    sequence_number: 0,
    response: { id: 'resp_up', status: 'in_progress', model: 'up', output: [], tools: [{ name: 'f' }], future: 1 },
  });
  const lost = new AppError('upstream_truncated', 'The upstream closed the stream.');

  const rendered = (
    error: AppError,
    tail: StreamTail,
  ): { names: (string | undefined)[]; data: string[]; text: string } => {
    const bytes = protocol.renderStreamError(call, error, tail);
    const events = new SseSplitter().next(bytes);
    return {
      names: events.map(({ name }) => name),
      data: events.map(({ data }) => data),
      text: Buffer.from(bytes).toString(),
    };
  };
  const parsed = (text: string | undefined): JsonObject => JSON.parse(text ?? '') as JsonObject;

  it('is an error in both forms, then response.failed, then the marker (cases 23 and 98)', () => {
    const { names, data, text } = rendered(lost, { first: created, last: event({ sequence_number: 5 }) });
    expect(names).toEqual(['error', 'response.failed', undefined]);
    const message = 'The upstream closed the stream. (request id: req_018f)';
    const fault = { code: 'server_error', message, param: null };
    expect(parsed(data[0])).toEqual({
      type: 'error',
      sequence_number: 6,
      ...fault,
      error: { type: 'server_error', ...fault },
    });
    expect(parsed(data[1])).toMatchObject({ type: 'response.failed', sequence_number: 7 });
    expect(data[2]).toBe('[DONE]');
    expect(text).not.toContain('\r');
  });

  it('completes the response that was started', () => {
    const failed = parsed(rendered(lost, { first: created, last: created }).data[1])['response'];
    expect(failed).toMatchObject({
      id: 'resp_up',
      model: 'up',
      status: 'failed',
      output: [],
      tools: [{ name: 'f' }],
      future: 1,
      error: { code: 'server_error' },
    });
  });

  it('has a complete response and counts from zero if none was started (case 25)', () => {
    const { data } = rendered(lost, {});
    expect(data.slice(0, 2).map((text) => parsed(text)['sequence_number'])).toEqual([0, 1]);
    const response = parsed(data[1])['response'] as JsonObject;
    expect(response).toMatchObject({
      id: 'resp_018f',
      object: 'response',
      created_at: 1_767_323_045,
      model: 'm',
      status: 'failed',
      max_output_tokens: 50,
    });
    const needed =
      'id object created_at status model output tools tool_choice truncation parallel_tool_calls text temperature top_p presence_penalty frequency_penalty top_logprobs store background service_tier metadata completed_at error incomplete_details instructions max_output_tokens max_tool_calls previous_response_id reasoning usage safety_identifier prompt_cache_key';
    expect(Object.keys(response).toSorted()).toEqual(needed.split(' ').toSorted());
  });

  it('accepts upstreams without sequence numbers', () => {
    const data = rendered(lost, { first: event({ type: 'x' }), last: new SseEvent(Buffer.from(': hi\n\n')) }).data;
    expect(parsed(data[0])['sequence_number']).toBe(0);
  });

  it.each<[ErrorKind, string]>([
    ['context_length_exceeded', 'context_length_exceeded'],
    ['insufficient_quota', 'insufficient_quota'],
    ['rate_limit_exceeded', 'rate_limit_exceeded'],
    ['server_is_overloaded', 'server_is_overloaded'],
    ['shutting_down', 'server_error'],
    ['invalid_request', 'invalid_prompt'],
    ['timeout', 'server_error'],
    ['internal', 'server_error'],
  ])('renders %s as the code %s', (kind, code) => {
    const failed = parsed(rendered(new AppError(kind, 'Something.'), {}).data[1]);
    expect(failed['response']).toMatchObject({ error: { code } });
  });

  it('keeps an idle stream alive with a comment (case 24)', () => {
    expect(Buffer.from(protocol.keepAlive()).toString()).toBe(': keepalive\n\n');
  });
});
