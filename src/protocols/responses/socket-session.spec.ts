import { AppError, type JsonObject } from '../../platform/shared/index.js';
import { SseEvent, type SocketAction, type SocketTurn, sseText } from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';
import { ResponsesSession } from './socket-session.js';

type Started = Exclude<SocketAction, { readonly type: 'send' }>;

/** A connection whose messages, calls and ends a test writes down. */
class Connection {
  readonly session = new ResponsesSession();
  readonly told: JsonObject[] = [];
  readonly started: Started[] = [];
  private messages = 0;

  constructor(private readonly mayStore = true) {}

  receive(message: object | string, refusal?: AppError): this {
    const bytes = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    const id = `req_${this.messages++}`;
    const reader = this.session.message({ id, mayStore: this.mayStore, refusal });
    for (let seen = 7; seen < bytes.length; seen += 7) reader.next(bytes.subarray(0, seen));
    return this.apply(reader.end(bytes));
  }

  create(body: object): this {
    return this.receive({ type: 'response.create', model: 'm', ...body });
  }

  steer(previousId: string, input: unknown): this {
    return this.receive({ type: 'response.steer', previous_response_id: previousId, input });
  }

  event(number: number, event: JsonObject): this {
    const text = sseText(String(event['type']), JSON.stringify(event));
    const data = this.session.event(this.turn(number), new SseEvent(Buffer.from(text)));
    if (data !== undefined) this.told.push(JSON.parse(Buffer.from(data).toString()) as JsonObject);
    return this;
  }

  created(number: number, id: string): this {
    return this.event(number, { type: 'response.created', response: { id } });
  }

  item(number: number, item: JsonObject, index = 0): this {
    return this.event(number, { type: 'response.output_item.done', output_index: index, item });
  }

  completed(number: number): this {
    return this.apply(this.session.completed(this.turn(number)));
  }

  failed(number: number, message = 'No.', isReported = false): this {
    return this.apply(this.session.failed(this.turn(number), new AppError('upstream_error', message), isReported));
  }

  /** The whole of a response that says something. */
  responded(number: number, id: string, text: string): this {
    return this.created(number, id).item(number, said(text)).completed(number);
  }

  /** The body of the call with this number, as JSON. */
  body(number: number): JsonObject {
    return JSON.parse(String(this.started[number]?.body)) as JsonObject;
  }

  turn(number: number): never {
    return this.started[number]?.turn as SocketTurn as never;
  }

  get types(): unknown[] {
    return this.told.map(({ type }) => type);
  }

  private apply(actions: readonly SocketAction[]): this {
    for (const action of actions)
      if (action.type === 'send') this.told.push(JSON.parse(String(action.text)) as JsonObject);
      else this.started.push(action);
    return this;
  }
}

const said = (text: string): JsonObject => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const asked = (text: string): JsonObject => ({ type: 'message', role: 'user', content: text });

describe('a connection of Responses', () => {
  it.each<[string, string]>([
    ['{"type":"response.create","model":"m","input":"a"}', '{"stream":true,"model":"m","input":"a"}'],
    ['{"model":"m","input":"a","type":"response.create"}', '{"model":"m","input":"a","stream":true}'],
    ['{"stream_id":"x","type":"response.create","model":"m"}', '{"stream":true,"model":"m"}'],
    ['{"type":"response.create","stream":false,"stream_id":"x","n":1.50}', '{"stream":true,"n":1.50}'],
    ['{ "n" : 1 , "generate" : true , "type" : "response.create" }', '{ "n" : 1 ,  "stream":true }'],
    ['{"type":"response.create","generate":true,"stream_id":"x"}', '{"stream":true}'],
  ])('makes of %s the body %s', (message, body) => {
    expect(new Connection().receive(message).started[0]?.body.toString()).toBe(body);
  });

  it('keeps what nothing stores: input and output of the last response of each lane', () => {
    const connection = new Connection().create({ input: 'One', store: false }).responded(0, 'resp_1', 'First');
    connection.create({ input: [asked('Two')], store: false, previous_response_id: 'resp_1' });
    expect(connection.body(1)).toEqual({
      stream: true,
      model: 'm',
      store: false,
      input: [asked('One'), said('First'), asked('Two')],
    });
    connection.responded(1, 'resp_2', 'Second');
    connection.create({ input: [], store: false, previous_response_id: 'resp_2', stream_id: 'fork' });
    expect(connection.body(2)['input']).toEqual([asked('One'), said('First'), asked('Two'), said('Second')]);
    connection.create({ input: 'Late', store: false, previous_response_id: 'resp_1' });
    expect(connection.body(3)).toMatchObject({ previous_response_id: 'resp_1', input: 'Late' });
  });

  it('leaves stored responses to their store, and continues them', () => {
    const connection = new Connection().create({ input: 'One' }).responded(0, 'resp_1', 'First');
    connection.create({ input: 'Two', store: false, previous_response_id: 'resp_1' });
    expect(connection.body(1)).toMatchObject({ input: 'Two', previous_response_id: 'resp_1' });
    connection.responded(1, 'resp_2', 'Second');
    connection.create({ store: false, previous_response_id: 'resp_2' });
    expect(connection.body(2)).toMatchObject({
      previous_response_id: 'resp_1',
      input: [asked('Two'), said('Second')],
    });
  });

  it('keeps every response of a key that stores none', () => {
    const connection = new Connection(false).create({ input: 'One' }).responded(0, 'resp_1', 'First');
    connection.create({ input: 'Two', previous_response_id: 'resp_1' });
    expect(connection.body(1)['input']).toEqual([asked('One'), said('First'), asked('Two')]);
  });

  it('keeps items in their order, and reasoning only with its content', () => {
    const connection = new Connection().create({ input: 'One', store: false }).created(0, 'resp_1');
    connection.item(0, said('b'), 3).item(0, { type: 'reasoning', id: 'rs_1', summary: [] }, 0);
    connection.item(0, { type: 'reasoning', id: 'rs_2', encrypted_content: 'x' }, 1).item(0, said('a'), 2).completed(0);
    connection.create({ store: false, previous_response_id: 'resp_1' });
    const items = connection.body(1)['input'] as JsonObject[];
    expect(items.slice(1)).toEqual([{ type: 'reasoning', id: 'rs_2', encrypted_content: 'x' }, said('a'), said('b')]);
  });

  it('continues a response without the whole conversation only if no reasoning was left out of it', () => {
    const connection = new Connection();
    const continuation = (number: number): unknown => {
      const started = connection.started[number];
      const body = started?.type === 'call' ? started.continuation?.body() : undefined;
      return body && JSON.parse(String(body));
    };
    const next = (number: number): unknown =>
      connection.create({ input: 'More', store: false, previous_response_id: `resp_${number}` });
    const reasoned = (number: number, reasoning: object): unknown => {
      connection.created(number, `resp_${number}`).item(number, { type: 'reasoning', summary: [], ...reasoning }, 0);
      return connection.item(number, said('a'), 1).completed(number);
    };
    connection.create({ input: 'One', store: false });
    reasoned(0, { encrypted_content: 'x' });
    next(0);
    expect(continuation(1)).toMatchObject({ previous_response_id: 'resp_0', input: 'More' });
    reasoned(1, {});
    next(1);
    expect(continuation(2)).toBeUndefined();
    expect(connection.body(2)['input']).toHaveLength(6);
    // The upstream has received exactly what is kept.
    connection.responded(2, 'resp_2', 'c');
    next(2);
    expect(continuation(3)).toMatchObject({ previous_response_id: 'resp_2', input: 'More' });
  });

  it('forgets a response after a failed continuation, a longer one than 1 MiB, and when told to', () => {
    const connection = new Connection().create({ input: 'One', store: false }).responded(0, 'resp_1', 'First');
    expect(connection.session.keptBytes).toBeGreaterThan(0);
    connection.create({ store: false, previous_response_id: 'resp_1' }).failed(1);
    expect(connection.session.keptBytes).toBe(0);
    connection.create({ store: false, input: 'x' }).responded(2, 'resp_2', 'y'.repeat(1024 * 1024));
    expect(connection.session.keptBytes).toBe(0);
    connection.create({ store: false, input: 'x' }).responded(3, 'resp_3', 'z').session.forget();
    expect(connection.session.keptBytes).toBe(0);
  });

  it('runs one request of a lane after the other, and 16 lanes at once', () => {
    const connection = new Connection();
    for (let lane = 0; lane < 20; lane += 1) connection.create({ stream_id: String(lane), input: 'a' });
    connection.create({ stream_id: '0', input: 'b' });
    expect(connection.started).toHaveLength(16);
    connection.completed(0);
    expect(connection.body(16)['input']).toBe('b');
    connection.failed(16);
    expect(connection.told).toMatchObject([{ type: 'error', stream_id: '0', status: 502 }]);
    expect(connection.started).toHaveLength(18);
    expect(connection.session.isBusy).toBe(true);
  });

  it('lets 32 requests wait, or 1 MiB of them', () => {
    const many = new Connection();
    for (let count = 0; count < 34; count += 1) many.create({ input: 'a' });
    expect(many.told).toMatchObject([{ status: 429, error: { code: 'rate_limit_exceeded' } }]);
    const large = new Connection().create({ input: 'a' }).create({ input: 'x'.repeat(1024 * 1024) });
    expect(large.told).toMatchObject([{ status: 429 }]);
    expect(large.completed(0).session.isBusy).toBe(false);
  });

  it('reports refusals with their lane', () => {
    const connection = new Connection();
    connection.receive({ type: 'response.create', stream_id: 'a' }, new AppError('shutting_down', 'Later.'));
    expect(connection.told).toMatchObject([{ type: 'error', status: 503, stream_id: 'a' }]);
    expect(connection.started).toEqual([]);
  });

  it('does not repeat an error that the response has reported', () => {
    const connection = new Connection().create({ input: 'a' }).created(0, 'resp_1').failed(0, 'No.', true);
    expect(connection.types).toEqual(['response.created']);
  });

  describe('that is steered', () => {
    const running = (): Connection =>
      new Connection()
        .create({ input: 'One', store: false, stream_id: 's', instructions: 'Short.' })
        .created(0, 'resp_1');

    it('follows a response with another that has its settings', () => {
      const connection = running()
        .steer('resp_1', 'Stop.')
        .steer('resp_1', 'Really.')
        .item(0, said('First'))
        .completed(0);
      expect(connection.told.slice(1, 3)).toMatchObject([
        { type: 'response.steer.accepted', sequence_number: 0, stream_id: 's', steer: { id: 'steer_1' } },
        { type: 'response.steer.accepted', sequence_number: 1, steer: { id: 'steer_2' } },
      ]);
      expect(connection.body(1)).toEqual({
        stream: true,
        model: 'm',
        store: false,
        instructions: 'Short.',
        input: [asked('One'), said('First'), asked('Stop.'), asked('Really.')],
      });
      expect(connection.started[1]).toMatchObject({ type: 'call', turn: { id: 'req_1' } });
    });

    it('returns the input when the response fails, or the one that follows', () => {
      const failed = { type: 'response.steer.failed', stream_id: 's', steer: { id: 'steer_1', input: 'Stop.' } };
      const first = running().steer('resp_1', 'Stop.').failed(0, 'No.', true);
      expect(first.told.at(-1)).toMatchObject({ ...failed, error: { code: 'response_not_active' } });
      const next = running().steer('resp_1', 'Stop.').completed(0).failed(1);
      expect(next.told.at(-1)).toMatchObject({
        ...failed,
        error: { code: 'successor_creation_failed', message: 'No.' },
      });
      expect(next.types).not.toContain('error');
    });

    const CALLS: [JsonObject, JsonObject | undefined][] = [
      [
        { type: 'function_call', call_id: 'c', name: 'f' },
        { type: 'function_call_output', call_id: 'c', name: 'f' },
      ],
      [
        { type: 'custom_tool_call', call_id: 'c' },
        { type: 'custom_tool_call_output', call_id: 'c' },
      ],
      [
        { type: 'computer_call', call_id: 'c' },
        { type: 'computer_call_output', call_id: 'c' },
      ],
      [
        { type: 'apply_patch_call', call_id: 'c' },
        { type: 'apply_patch_call_output', call_id: 'c' },
      ],
      [
        { type: 'shell_call', call_id: 'c', environment: { type: 'local' } },
        { type: 'shell_call_output', call_id: 'c' },
      ],
      [{ type: 'shell_call', call_id: 'c', environment: { type: 'container_reference' } }, undefined],
      [
        { type: 'tool_search_call', call_id: 'c', execution: 'client' },
        { type: 'tool_search_output', call_id: 'c', execution: 'client' },
      ],
      [
        { type: 'mcp_approval_request', id: 'm' },
        { type: 'mcp_approval_response', approval_request_id: 'm' },
      ],
      [{ type: 'web_search_call', id: 'w' }, undefined],
    ];
    it.each(CALLS)('after %j waits for %j', (item, required) => {
      const connection = running().steer('resp_1', 'Stop.').item(0, item).completed(0);
      const pending = connection.told.find(({ type }) => type === 'response.steer.pending');
      expect(pending?.['required_input']).toEqual(required && [required]);
      expect(connection.started).toHaveLength(required === undefined ? 2 : 1);
    });

    it('adds waiting input to the request that continues the response, and returns it when another is created', () => {
      const call = { type: 'function_call', call_id: 'c', name: 'f' };
      const output = { type: 'function_call_output', call_id: 'c', output: '1' };
      const waiting = (): Connection => running().steer('resp_1', 'Stop.').item(0, call).completed(0);
      const late = waiting().steer('resp_1', 'More.');
      expect(late.types.slice(-2)).toEqual(['response.steer.accepted', 'response.steer.pending']);
      late.create({ input: [output], store: false, stream_id: 's', previous_response_id: 'resp_1' });
      expect(late.body(1)['input']).toEqual([asked('One'), call, asked('Stop.'), asked('More.'), output]);
      const other = waiting().create({ input: 'Else', store: false, stream_id: 's' });
      expect(other.told.at(-1)).toMatchObject({
        type: 'response.steer.failed',
        error: { code: 'response_not_active' },
      });
      expect(other.body(1)['input']).toBe('Else');
    });

    it.each<[string, (connection: Connection) => Connection, string]>([
      ['an unknown response', (it) => it.steer('resp_0', 'a'), 'response_not_found'],
      ['a complete response', (it) => it.completed(0).steer('resp_1', 'a'), 'response_already_completed'],
      ['no input', (it) => it.steer('resp_1', []), 'invalid_input'],
      ['another role', (it) => it.steer('resp_1', [{ role: 'system', content: 'a' }]), 'invalid_input'],
      ['another part', (it) => it.steer('resp_1', [{ role: 'user', content: [{ type: 'x' }] }]), 'invalid_input'],
      ['huge input', (it) => it.steer('resp_1', 'a'.repeat(1024 * 1024)), 'invalid_input'],
      [
        'another member',
        (it) => it.receive({ type: 'response.steer', previous_response_id: 'resp_1', input: 'a', stream_id: 's' }),
        'invalid_input',
      ],
      [
        'too many steers',
        (it) => Array.from({ length: 17 }).reduce<Connection>((one) => one.steer('resp_1', 'a'), it),
        'too_many_pending_steers',
      ],
    ])('refuses %s', (_, steer, code) => {
      expect(steer(running()).told.at(-1)).toMatchObject({ type: 'response.steer.failed', error: { code } });
    });

    it('refuses responses of conversations', () => {
      const connection = new Connection().create({ input: 'a', conversation: 'conv_1' }).created(0, 'resp_1');
      connection.steer('resp_1', 'b');
      expect(connection.told.at(-1)).toMatchObject({ error: { code: 'steering_not_supported' } });
    });
  });
});

describe('calls of a connection', () => {
  it('have the headers of its handshake but for what concerns the connection', () => {
    const headers = {
      authorization: 'Bearer sk-1',
      'session-id': 's',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'k',
      'idempotency-key': 'i',
      'openai-beta': 'responses_websockets=2026-02-06, responses=v1',
    };
    const line = new ResponsesProtocol().socket.lineOf({ method: 'GET', path: '/v1/responses', query: 'x=1', headers });
    expect(line).toEqual({
      method: 'POST',
      path: '/v1/responses',
      query: '',
      headers: { authorization: 'Bearer sk-1', 'session-id': 's', 'openai-beta': 'responses=v1' },
    });
  });
});
