import { brotliCompressSync } from 'node:zlib';
import {
  expectError,
  expectFreeRow,
  INVALID_REQUEST,
  INVALID_TOKEN,
  MODEL_NOT_FOUND,
  TOO_LARGE,
  UNSUPPORTED_ENCODING,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp } from '../support/relay-app.js';
import type { ProtocolEndpoint, JsonObject } from '../support/scripted-upstream.js';
import { sendRaw, type WireRequest } from '../support/wire.js';

const MAX_BODY_BYTES = 50_000;
const INPUT: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': 'messages',
  messages: 'messages',
  responses: 'input',
};
const LIMIT: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': 'max_completion_tokens',
  messages: 'max_tokens',
  responses: 'max_output_tokens',
};

describe('bodies that are no call (case 95)', () => {
  let relay: RelayApp;
  beforeAll(async () => (relay = await RelayApp.start({}, { MAX_BODY_BYTES: String(MAX_BODY_BYTES) })));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const send = (
    protocol: ProtocolEndpoint,
    key: string,
    { headers = [], ...request }: WireRequest,
  ): Promise<Response> =>
    sendRaw(`${relay.url}${PATHS[protocol]}`, { headers: ['authorization', `Bearer ${key}`, ...headers], ...request });

  describe.each(PROTOCOLS)('to %s', (protocol) => {
    const good = JSON.stringify(aRequest(protocol));
    const fields = good.slice(1, -1);
    const without = (name: string): string => {
      const { [name]: _, ...rest } = aRequest(protocol);
      return JSON.stringify(rest);
    };
    const having = (overrides: JsonObject): string => JSON.stringify(aRequest(protocol, overrides));
    const nested = `{${fields},"extra":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;

    /** Refuses the body, before anything goes up, and leaves one row for it. */
    async function expectRefused(body: string | Buffer, expected: { param?: string; code?: string }): Promise<string> {
      const caller = await relay.caller();
      const response = await send(protocol, caller.key, { body });
      const message = await expectError(protocol, response, INVALID_REQUEST, expected);
      await expectFreeRow(relay, caller, response, {
        status: 'refused',
        error_reason: 'invalid_request',
        error_message: message,
        protocol,
      });
      expect(relay.upstream.requests).toHaveLength(0);
      return message;
    }

    it.each<[string, string | Buffer, RegExp]>([
      ['is empty', '', /empty/],
      ['breaks off', good.slice(0, -5), /not valid JSON/],
      ['has something behind it', `${good} x`, /not valid JSON/],
      ['is two', good + good, /not valid JSON/],
      ['is an array', `[${good}]`, /JSON object/],
      ['is a string', '"model"', /JSON object/],
      ['is null', 'null', /JSON object/],
      ['is a form', 'model=m&input=Hello', /JSON object/],
      ['has a bare NUL in a string', good.replace('Hello', 'Hel\0lo'), /not valid JSON/],
      ['has a NUL behind it', `${good}\0`, /not valid JSON/],
      ['is no UTF-8', Buffer.from(good.replace('Hello', 'Hell\xf6'), 'latin1'), /UTF-8/],
      [
        'has a surrogate as bytes',
        Buffer.concat([Buffer.from(`{${fields},"x":"`), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"}')]),
        /UTF-8/,
      ],
      ['is 10,000 levels deep', nested, /nested deeper/],
      ['has an unquoted name', '{model:"m"}', /not valid JSON/],
      ['has a comma too many', `{${fields},}`, /not valid JSON/],
      ['has a number that is none', `{${fields},"temperature":NaN}`, /not valid JSON/],
    ])('a body that %s is a 400', async (_, body, words) => {
      expect(await expectRefused(body, {})).toMatch(words);
    });

    it.each<[string, string]>([
      ['model', 'model'],
      [INPUT[protocol], INPUT[protocol]],
      ...(protocol === 'messages' ? ([['max_tokens', 'max_tokens']] as [string, string][]) : []),
    ])('a missing %s is named', async (name, param) => {
      await expectRefused(without(name), { param, code: 'missing_required_parameter' });
      await expectRefused(having({ [name]: null }), { param, code: 'missing_required_parameter' });
    });

    it.each<[string, JsonObject]>([
      ['model', { model: 5 }],
      ['model', { model: ['m'] }],
      ['model', { model: '' }],
      [INPUT[protocol], { [INPUT[protocol]]: 7 }],
      [INPUT[protocol], { [INPUT[protocol]]: {} }],
      ['stream', { stream: 'yes' }],
      ['stream', { stream: 1 }],
      [LIMIT[protocol], { [LIMIT[protocol]]: 'many' }],
      [LIMIT[protocol], { [LIMIT[protocol]]: -1 }],
      [LIMIT[protocol], { [LIMIT[protocol]]: 1.5 }],
    ])('a wrong %s is named: %j', async (param, overrides) => {
      await expectRefused(having(overrides), { param, code: 'invalid_value' });
    });

    it.each([
      ['as it is', `{"model":"free",${fields.replace('"model":"m",', '')},"model":"m"}`],
      ['in another spelling', `{"model":"free",${fields.replace('"model":"m",', '')},"mod\\u0065l":"m"}`],
    ])('a model that is duplicate, %s, is never read as either of the two', async (_, body) => {
      expect(JSON.parse(body)).toMatchObject({ model: 'm' });
      const message = await expectRefused(body, { param: 'model', code: 'invalid_value' });
      expect(message).toMatch(/duplicate/);
    });

    it.each([
      ['a NUL', String.raw`m\u0000x`],
      ['half of a pair of surrogates', String.raw`m\ud83dx`],
    ])('a model with %s in its name is unknown, and the refusal is on record', async (_, name) => {
      const caller = await relay.caller();
      const response = await send(protocol, caller.key, { body: good.replace('"m"', `"${name}"`) });
      await expectError(protocol, response, MODEL_NOT_FOUND, { param: 'model' });
      await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'model_not_found' });
    });

    it('a body that says it is too large is refused before a byte of it has come', async () => {
      const caller = await relay.caller();
      const response = await send(protocol, caller.key, { announced: MAX_BODY_BYTES + 1 });
      expect(await expectError(protocol, response, TOO_LARGE)).toContain(String(MAX_BODY_BYTES));
      await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'request_too_large' });
    });

    it('a body that turns out to be too large is refused', async () => {
      const caller = await relay.caller();
      const body = having({ extra: 'x'.repeat(MAX_BODY_BYTES) });
      const response = await send(protocol, caller.key, { body, chunked: true });
      await expectError(protocol, response, TOO_LARGE);
      await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'request_too_large' });
      expect(relay.upstream.requests).toHaveLength(0);
    });

    it('a body of just the size that is allowed goes up, announced or not', async () => {
      const rest = MAX_BODY_BYTES - Buffer.byteLength(having({ extra: '' }));
      const body = having({ extra: 'x'.repeat(rest) });
      expect(Buffer.byteLength(body)).toBe(MAX_BODY_BYTES);
      for (const chunked of [false, true]) {
        const { key } = await relay.caller();
        expect((await send(protocol, key, { body, chunked })).status).toBe(200);
        expect((await relay.upstream.nextRequest()).json['extra']).toHaveLength(rest);
      }
    });

    it('an unknown content-encoding is a 415 that names it', async () => {
      const caller = await relay.caller();
      const headers = ['content-encoding', 'x-crimped'];
      const response = await send(protocol, caller.key, { headers, body: brotliCompressSync(good) });
      expect(await expectError(protocol, response, UNSUPPORTED_ENCODING)).toContain('x-crimped');
      await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'unsupported_media_type' });
    });

    it('refuses an invalid key before the first byte of the body has arrived, however large it is', async () => {
      const response = await send(protocol, 'sk-nobody', { announced: MAX_BODY_BYTES * 1000 });
      await expectError(protocol, response, INVALID_TOKEN);
    });
  });

  it('a path decides the shape, whatever the headers say of another protocol (§1.1)', async () => {
    const { key } = await relay.caller();
    for (const protocol of PROTOCOLS)
      for (const headers of [{ 'anthropic-version': '2023-06-01' }, { 'vendor-version': '2023-06-01' }, {}])
        await expectError(protocol, await relay.post(PATHS[protocol], key, '{', headers), INVALID_REQUEST);
  });
});
