import { once } from 'node:events';
import { connect } from 'node:net';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  bytes,
  destroy,
  type ProtocolEndpoint,
  encodeEvents,
  end,
  eventsIn,
  head,
  raw,
  type Script,
  streamHead,
} from '../support/scripted-upstream.js';

const CRLF = '\r\n';

describe('R10: messages that mean one thing to a proxy and another one here', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({ lingerUnreadMs: 200 });
    caller = await relay.caller({ credit: '1000' });
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  /** Sends bytes as they are, and gives everything that comes back until the relay closes the connection, or says nothing. */
  async function exchange(text: string, quietMs = 1500): Promise<string> {
    const { port, hostname } = new URL(relay.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    let response = '';
    socket.on('error', () => undefined).on('data', (data) => (response += data.toString('latin1')));
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.write(text, 'latin1');
    await new Promise((resolve) => socket.once('close', resolve));
    return response;
  }

  const body = JSON.stringify(aRequest('messages'));
  const post = (headers: readonly string[], content = body, line = `POST ${PATHS.messages} HTTP/1.1`): string =>
    [line, 'host: x', `authorization: Bearer ${caller.key}`, ...headers, '', content].join(CRLF);
  const responsesIn = (text: string): string[] => text.match(/HTTP\/1\.1 \d{3}/g) ?? [];
  const chunked = (content: string, extension = ''): string =>
    `${content.length.toString(16)}${extension}${CRLF}${content}${CRLF}0${CRLF}${CRLF}`;
  /** What would be answered if it were taken for a request of its own. */
  const SMUGGLED = `GET /healthz HTTP/1.1${CRLF}host: x${CRLF}${CRLF}`;

  it.each<[string, () => string]>([
    [
      'a length and chunks at once',
      () => post([`content-length: ${body.length}`, 'transfer-encoding: chunked'], chunked(body)),
    ],
    ['chunks and a length at once', () => post(['transfer-encoding: chunked', 'content-length: 4'], chunked(body))],
    ['two lengths', () => post([`content-length: ${body.length}`, 'content-length: 5'])],
    ['two lengths in one line', () => post([`content-length: ${body.length}, 5`])],
    ['a length with a sign', () => post([`content-length: +${body.length}`])],
    ['a length below zero', () => post(['content-length: -1'])],
    ['a length in hexadecimal', () => post([`content-length: 0x${body.length.toString(16)}`])],
    ['a length beyond counting', () => post(['content-length: 99999999999999999999999'])],
    ['an unknown coding', () => post(['transfer-encoding: chunked, xchunked'], chunked(body))],
    ['chunks that are not the last coding', () => post(['transfer-encoding: chunked, identity'], chunked(body))],
    ['a coding that is written oddly', () => post(['transfer-encoding: \vchunked'], chunked(body))],
    ['a space before the colon', () => post([`content-length : ${body.length}`])],
    ['a header that goes on in the next line', () => post(['x-odd: a', ' b: c', `content-length: ${body.length}`])],
    ['lines that end with LF alone', () => post([`content-length: ${body.length}`]).replaceAll(CRLF, '\n')],
    ['one header that ends with LF alone', () => post([`x-odd: a\ncontent-length: ${body.length}`])],
    ['a CR within a header', () => post([`x-odd: a\rb`, `content-length: ${body.length}`])],
    ['a NUL within a header', () => post([`x-odd: a\0b`, `content-length: ${body.length}`])],
    ['a header without a name', () => post([': a', `content-length: ${body.length}`])],
    ['a chunk whose size is no number', () => post(['transfer-encoding: chunked'], `zz${CRLF}${body}`)],
    [
      'a chunk that does not end where it says',
      () => post(['transfer-encoding: chunked'], `1${CRLF}{}${CRLF}0${CRLF}${CRLF}`),
    ],
    [
      'another version of HTTP',
      () => post([`content-length: ${body.length}`], body, `POST ${PATHS.messages} HTTP/9.9`),
    ],
    ['no version at all', () => post([], '', `POST ${PATHS.messages}`)],
    ['a NUL in the address', () => post([`content-length: ${body.length}`], body, 'POST /v1/\0messages HTTP/1.1')],
    ['a space in the address', () => post([`content-length: ${body.length}`], body, 'POST /v1/ messages HTTP/1.1')],
    ['no host', () => post([`content-length: ${body.length}`]).replace(`host: x${CRLF}`, '')],
  ])('%s: are refused, the connection is closed, and nothing behind them is a request', async (_, message) => {
    const response = await exchange(message() + SMUGGLED);
    expect(responsesIn(response)).toEqual(['HTTP/1.1 400']);
    expect(response).toMatch(/\r\nconnection: close\r\n/i);
    expect(relay.upstream.requests).toEqual([]);
  });

  it('chunks with extensions are read without them, and what stands behind is a request of its own', async () => {
    const message = post(['transfer-encoding: chunked'], chunked(body, ';name="va;lue"'));
    expect(responsesIn(await exchange(message + SMUGGLED))).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    expect((await relay.upstream.nextRequest()).json).toMatchObject({ model: 'vendor-m-2026' });
  });

  it('extensions of chunks are not read for ever', async () => {
    const message = post(['transfer-encoding: chunked'], chunked(body, `;x=${'y'.repeat(100_000)}`));
    expect(responsesIn(await exchange(message))).toEqual([expect.stringMatching(/ 4\d\d$/)]);
  });

  it('trailers set no headers', async () => {
    const trailer = `0${CRLF}authorization: Bearer sk-nobody${CRLF}x-odd: a${CRLF}${CRLF}`;
    const message = post(['transfer-encoding: chunked'], chunked(body).replace(`0${CRLF}${CRLF}`, trailer));
    expect(responsesIn(await exchange(message))).toEqual(['HTTP/1.1 200']);
    expect((await relay.upstream.nextRequest()).rawHeaders).not.toContain('x-odd');
  });

  it('headers that are too large are refused, and told so', async () => {
    const response = await exchange(post([`x-odd: ${'y'.repeat(20_000)}`, `content-length: ${body.length}`]));
    expect(responsesIn(response)).toEqual(['HTTP/1.1 431']);
    expect(response).toContain('too large');
  });

  it('thousands of headers are too many', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => `x-${index}: y`);
    expect(responsesIn(await exchange(post([...many, `content-length: ${body.length}`])))).toEqual(['HTTP/1.1 431']);
  });

  it('a response has no line that its request has written', async () => {
    const odd = 'a%0d%0aset-cookie:%20x=y%0d%0a';
    for (const path of [
      `/v1/models/${odd}`,
      `/${odd}`,
      `/keys/${odd}?next=${odd}`,
      `/sign-in?next=//${odd}`,
      `/v1/${odd}`,
    ]) {
      const response = await exchange(
        `GET ${path} HTTP/1.1${CRLF}host: x${CRLF}authorization: Bearer ${caller.key}${CRLF}accept: text/html${CRLF}connection: close${CRLF}${CRLF}`,
      );
      expect(response.split(`${CRLF}${CRLF}`)[0]).not.toMatch(/^set-cookie: x=y/im);
    }
  });

  describe('headers of an upstream', () => {
    const OF_THE_UPSTREAM = {
      'set-cookie': 'session=of-the-vendor',
      server: 'of-the-vendor',
      via: '1.1 of-the-vendor',
      'x-request-id': 'req_of-the-vendor',
      'request-id': 'req_of-the-vendor',
      'cf-ray': 'of-the-vendor',
      'cf-cache-status': 'of-the-vendor',
      'openai-organization': 'of-the-vendor',
      'openai-project': 'of-the-vendor',
      'openai-processing-ms': '1',
      'anthropic-organization-id': 'of-the-vendor',
      'x-ratelimit-limit-requests': '987654',
      'x-ratelimit-remaining-tokens': '987654',
      'anthropic-ratelimit-requests-limit': '987654',
      'anthropic-ratelimit-tokens-remaining': '987654',
      'x-envoy-upstream-service-time': 'of-the-vendor',
      'x-relay-warnings': 'of-the-vendor',
      'server-timing': 'of-the-vendor',
      'access-control-allow-origin': 'https://of-the-vendor.example',
      'strict-transport-security': 'max-age=987654',
      'alt-svc': 'h3="of-the-vendor:443"',
      location: 'https://of-the-vendor.example',
      'www-authenticate': 'Basic realm="of-the-vendor"',
      'keep-alive': 'timeout=987654',
      'proxy-authenticate': 'Basic realm="of-the-vendor"',
      trailer: 'x-of-the-vendor',
    };
    const responses: readonly (readonly [string, (protocol: ProtocolEndpoint) => Script])[] = [
      ['a stream', (protocol) => [streamHead(OF_THE_UPSTREAM), bytes(encodeEvents(eventsIn(protocol))), end()]],
      [
        'an error',
        () => [
          head(429, { ...OF_THE_UPSTREAM, 'content-type': 'application/json' }),
          bytes('{"error":{"message":"no"}}'),
          end(),
        ],
      ],
    ];

    it.each(PROTOCOLS.flatMap((protocol) => responses.map(([name, script]) => [protocol, name, script] as const)))(
      'stays here: %s, %s',
      async (protocol, _, script) => {
        relay.upstream.script(script(protocol));
        const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { stream: true }));
        const lines = [...response.headers].map((line) => line.join(': ')).join('\n');
        expect(lines).not.toMatch(/of-the-vendor|987654/);
        expect(response.headers.getSetCookie()).toEqual([]);
        expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
        await response.text();
      },
    );

    it.each<[string, string]>([
      ['two lengths', `content-length: 5${CRLF}content-length: 7${CRLF}${CRLF}{"a":1}`],
      ['a length and chunks', `content-length: 5${CRLF}transfer-encoding: chunked${CRLF}${CRLF}0${CRLF}${CRLF}`],
      ['a line that ends with CR alone', `x-odd: a\rset-cookie: b=c${CRLF}${CRLF}`],
      ['a header without a colon', `nonsense${CRLF}${CRLF}`],
      ['headers without end', `x-odd: ${'y'.repeat(100_000)}${CRLF}${CRLF}`],
    ])('is a failure of the upstream when it is broken: %s', async (_, rest) => {
      relay.upstream.script([
        raw(`HTTP/1.1 200 OK${CRLF}content-type: application/json${CRLF}${rest}`),
        destroy('close'),
      ]);
      const response = await relay.post(PATHS.responses, caller.key, aRequest('responses'));
      expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('upstream')]);
      expect(response.headers.getSetCookie()).toEqual([]);
    });

    it('adds no line by what it calls a tool, a model or a code', async () => {
      const split = 'a\r\nset-cookie: x=y\r\n\r\n<html>';
      relay.upstream.script([
        head(400, { 'content-type': 'application/json' }),
        bytes(JSON.stringify({ error: { message: split, type: split, code: split, param: split } })),
        end(),
      ]);
      for (const protocol of PROTOCOLS) {
        const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol));
        expect(response.status).toBe(400);
        expect(response.headers.getSetCookie()).toEqual([]);
        await response.text();
      }
    });
  });
});
