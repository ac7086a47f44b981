import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { BodyBudget } from '../../src/relay/body-budget.js';
import {
  expectError,
  expectFreeRow,
  INVALID_REQUEST,
  OVERLOADED,
  type Situation,
  TOO_LARGE,
  UNSUPPORTED_ENCODING,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp } from '../support/relay-app.js';
import { sendRaw } from '../support/wire.js';

const MIB = 1024 * 1024;
const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};
const encoded = (encoding: string, content: Buffer | string): Buffer => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return encoding.split(', ').reduce((body, name) => ENCODERS[name]!(body), bytes);
};

describe('requests whose bodies are encoded (case 107)', () => {
  let relay: RelayApp;
  const environment = { MAX_BODY_BYTES: String(2 * MIB), BODY_MEMORY_BYTES: String(3 * MIB) };
  beforeAll(async () => (relay = await RelayApp.start({}, environment)));
  afterAll(() => relay.close());
  afterEach(async () => {
    relay.upstream.reset();
    await eventually(() => expect(relay.get(BodyBudget).takenBytes).toBe(0));
  });

  const send = (path: string, key: string, encoding: string, body: Buffer, chunked = false): Promise<Response> =>
    sendRaw(`${relay.url}${path}`, {
      headers: ['authorization', `Bearer ${key}`, 'content-encoding', encoding],
      body,
      chunked,
    });

  describe.each(PROTOCOLS)('to %s', (protocol) => {
    const path = PATHS[protocol];

    it.each([...Object.keys(ENCODERS), 'identity', 'gzip, br', 'deflate, zstd, br, gzip'])(
      '%s is undone, and the upstream gets the body as it was',
      async (encoding) => {
        const { key } = await relay.caller();
        const body = JSON.stringify(aRequest(protocol, { extra: 'Grüße '.repeat(50_000) }));
        const bytes = encoding === 'identity' ? Buffer.from(body) : encoded(encoding, body);
        for (const chunked of [false, true]) {
          expect((await send(path, key, encoding, bytes, chunked)).status).toBe(200);
          const { headers, body: sent } = await relay.upstream.nextRequest();
          expect(sent.toString()).toBe(body.replace('"m"', '"vendor-m-2026"'));
          expect(headers['content-length']).toBe(String(sent.length));
          expect(headers).not.toHaveProperty('content-encoding');
        }
      },
    );

    it.each<[string, string, () => Buffer, Situation]>([
      ['that is corrupt', 'zstd', () => Buffer.from('{"model":"m"}'), INVALID_REQUEST],
      ['that is cut off', 'br', () => encoded('br', 'x'.repeat(100_000)).subarray(0, -4), INVALID_REQUEST],
      ['with a broken layer', 'gzip, zstd', () => encoded('zstd', 'no gzip'), INVALID_REQUEST],
      ['that unfolds to no JSON', 'gzip', () => encoded('gzip', 'no JSON'), INVALID_REQUEST],
      ['that unfolds to too much', 'gzip, gzip', () => encoded('gzip, gzip', ' '.repeat(100 * MIB)), TOO_LARGE],
      ['in an encoding that nobody knows', 'gzip, crimped', () => encoded('gzip', '{}'), UNSUPPORTED_ENCODING],
    ])('a body %s is refused in the shape of the protocol, and leaves a row', async (_, encoding, make, situation) => {
      const caller = await relay.caller();
      const response = await send(path, caller.key, encoding, make());
      await expectError(protocol, response, situation);
      await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: situation.reason });
      expect(relay.upstream.requests).toHaveLength(0);
    });
  });

  it('counts decoded bytes against the memory of all bodies, not encoded ones', async () => {
    const { key } = await relay.caller();
    const body = encoded(
      'zstd',
      JSON.stringify(
        aRequest('messages', {
          extra: randomBytes(32 * 1024)
            .toString('hex')
            .repeat(28),
        }),
      ),
    );
    expect(body.length).toBeLessThan(MIB / 10);
    const responses = await Promise.all([1, 2].map(() => send(PATHS.messages, key, 'zstd', body)));
    const [first, second] = responses.toSorted((one, other) => one.status - other.status);
    expect(first?.status).toBe(200);
    await expectError('messages', second!, OVERLOADED);
  });

  it('a client that goes on sending what is refused reads its response', async () => {
    const { key } = await relay.caller();
    const junk = Buffer.concat([Buffer.from('no gzip'), Buffer.alloc(1.5 * MIB)]);
    await expectError('messages', await send(PATHS.messages, key, 'gzip', junk), INVALID_REQUEST);
  });
});
