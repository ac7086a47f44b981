import { agentRequest, type AgentRequest } from '../support/agents.js';
import { expectError, INVALID_TOKEN, NO_WEB_SOCKET } from '../support/api-errors.js';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type ProtocolEndpoint,
  end,
  errorResponse,
  eventsAround,
  eventsIn,
  type JsonObject,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { readEvents } from '../support/stream-text.js';
import { sendRaw } from '../support/wire.js';

const COUNT = '/v1/messages/count_tokens';
const STRANGER = `sk-${'A'.repeat(48)}`;

/** The agents with the protocol of each, and every protocol that is foreign to it. */
const FOREIGN_PAIRS = (
  [
    ['codex', 'responses'],
    ['claude-code', 'messages'],
  ] as const
).flatMap(([agent, protocol]) =>
  PROTOCOLS.filter((upstream) => upstream !== protocol).map(
    (upstream): [AgentRequest, ProtocolEndpoint, ProtocolEndpoint] => [agent, protocol, upstream],
  ),
);

const world = usePairsRelay();

const post = (path: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${world.relay.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${world.caller.key}`, ...headers },
    body: JSON.stringify(body),
  });

describe('requirements of agents', () => {
  it('a WebSocket without its Upgrade header is refused so that Codex goes on at once (case 111, agents 1)', async () => {
    const headers = ['sec-websocket-version', '13', 'sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='];
    const response = await sendRaw(`${world.url}/responses`, { method: 'GET', headers });
    await expectError('responses', response, NO_WEB_SOCKET);
  });

  it.each(PROTOCOLS)('both kinds of keys are taken over an upstream of %s (agents 2)', async (upstream) => {
    const request = agentRequest('claude-code', `over-${upstream}`);
    for (const key of [{ 'x-api-key': world.caller.key, authorization: '' }, {}]) {
      expect((await post(PATHS.messages, request, key)).status).toBe(200);
      expect((await post(COUNT, request, key)).status).toBe(200);
      const models = await fetch(`${world.url}/models?limit=1000`, {
        headers: { authorization: `Bearer ${world.caller.key}`, ...key, 'anthropic-version': '2023-06-01' },
      });
      expect(await models.json()).toMatchObject({ has_more: false, first_id: 'over-chat-completions' });
    }
  });

  it('the version of Messages goes by what is sent in it, not by what some client speaks (agents 3)', async () => {
    const request = { model: 'over-messages', messages: [{ role: 'user', content: 'Hi' }], temperature: 0.5 };
    const response = await post(PATHS['chat-completions'], request, { 'anthropic-version': '2026-10-21' });
    expect(response.status).toBe(200);
    const { headers, json } = world.relay.upstream.requests[0]!;
    expect([headers['anthropic-version'], json['temperature']]).toEqual(['2023-06-01', 0.5]);
  });

  it.each(['responses', 'messages'] as const)('a wrong key ends it, in %s (agents 11)', async (protocol) => {
    const headers = { authorization: `Bearer ${STRANGER}` };
    const response = await post(PATHS[protocol], { model: 'over-messages' }, headers);
    expect(response.headers.get('x-should-retry')).toBe('false');
    await expectError(protocol, response, INVALID_TOKEN);
  });

  it('answers the first request, which has no key (agents 12)', async () => {
    for (const path of ['/', '/api/hello'])
      expect((await fetch(`${world.relay.url}${path}`, { method: 'HEAD' })).status).toBe(200);
  });
});

describe.each(FOREIGN_PAIRS)('requirements of %s over %s to %s', (agent, protocol, upstream) => {
  const request = agentRequest(agent, `over-${upstream}`);

  it.each([
    [400, 400, 'Scripted error 400.', 'false', null],
    [429, 429, 'Please try again in 7s.', null, '7'],
    [500, protocol === 'messages' ? 500 : 502, 'Scripted error 500.', null, '7'],
  ])('an error %d of the upstream is told in its own shape, as %d: %s (agents 9 and 11)', async (...row) => {
    const [from, to, words, shouldRetry, retryAfter] = row;
    world.relay.upstream.script(errorResponse(upstream, from, undefined, { 'retry-after': '7' }));
    const response = await post(PATHS[protocol], request);
    const { headers } = response;
    expect([response.status, headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([
      to,
      shouldRetry,
      retryAfter,
    ]);
    const body = (await response.json()) as JsonObject;
    expect(body['type']).toBe(protocol === 'messages' ? 'error' : undefined);
    expect(body['error']).toMatchObject({ message: expect.stringContaining(words) });
  });

  it('a stream that breaks does not look finished (agents 10)', async () => {
    const { until } = eventsAround(eventsIn(upstream, { text: ['Let me ', 'see.'] }), 'Let me ');
    world.relay.upstream.script([streamHead(), sse(until), end()]);
    const events = readEvents(await (await post(PATHS[protocol], request)).text());
    const ends = events.map(({ event }) => event).filter((event) => /completed|failed|error|stop$/.test(event ?? ''));
    expect(ends).toEqual(protocol === 'messages' ? ['error'] : ['error', 'response.failed']);
  });

  it('whether it streams is for its body to say, not for what it accepts (agents 12)', async () => {
    const streamed = await post(PATHS[protocol], request, { accept: 'application/json' });
    expect(streamed.headers.get('content-type')).toContain('text/event-stream');
    await streamed.text();
    const whole = await post(PATHS[protocol], { ...request, stream: false }, { accept: 'text/event-stream' });
    expect(whole.headers.get('content-type')).toContain('application/json');
    await whole.text();
  });

  it('texts may be empty (case 72, agents 12)', async () => {
    const member = protocol === 'messages' ? 'messages' : 'input';
    const history = [
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Go on.' },
    ];
    const longer = { ...request, [member]: [...(request[member] as JsonObject[]), ...history] };
    world.relay.upstream.script(responseIn(upstream, { text: '' }));
    expect((await post(`${PATHS[protocol]}?beta=true`, longer)).status).toBe(200);
  });
});
