import type { Config } from '../platform/config/index.js';
import { Bodies, DecodedBody, encodingsOf } from './bodies.js';
import { BodyBudget } from './body-budget.js';
import { BodyReader } from './body-reader.js';
import { RelayTimings } from './relay-timings.js';
import { TimeSlicer } from './translation-job.js';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextRound } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

const MIB = 1024 * 1024;
/** At the default quality, compressing a bomb takes seconds of CPU. */
const brotli = (bytes: Buffer): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
const BODY = Buffer.from(JSON.stringify({ model: 'm', input: 'Grüße '.repeat(20_000) }));
const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotli,
  zstd: zstdCompressSync,
};
const encoded = (names: readonly string[], bytes: Buffer): Buffer =>
  names.reduce((body, name) => ENCODERS[name]!(body), bytes);

function aRequest(encoding?: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (encoding !== undefined) request.headers['content-encoding'] = encoding;
  return request;
}

/** As the relay reads it, when the request has come in pieces of so many bytes. */
function decode(names: readonly string[], bytes: Buffer, maxBytes = MIB, pieceBytes = 1000): Promise<Buffer> {
  const request = aRequest();
  const body = new DecodedBody(request, names, maxBytes);
  for (let at = 0; at < bytes.length; at += pieceBytes) request.push(bytes.subarray(at, at + pieceBytes));
  request.push(null);
  const share = new BodyBudget({ bodyMemoryBytes: 100 * MIB } as Config).open('acc_1');
  const limits = { maxBytes, share, timings: new RelayTimings(), slicer: new TimeSlicer() };
  return new BodyReader(body, { next: () => undefined }, limits).read().finally(() => body.destroy());
}

describe('encodingsOf', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['identity', []],
    ['gzip', ['gzip']],
    ['GZip , identity,, br', ['gzip', 'br']],
  ])('parses %j as %j', (header, names) => expect(encodingsOf(aRequest(header))).toEqual(names));

  it.each([
    ['compress', 'compress'],
    ['gzip, crimped', 'crimped'],
    ['constructor', 'constructor'],
    ['x'.repeat(1000), `"${'x'.repeat(40)}"`],
    ['gzip,gzip,gzip,gzip,gzip', 'more than 4 content encodings'],
  ])('rejects %j by name (case 107)', (header, said) => {
    expect(() => encodingsOf(aRequest(header))).toThrow(
      expect.objectContaining({
        kind: 'unsupported_media_type',
        message: expect.stringContaining(said) as string,
      }) as Error,
    );
  });
});

describe('an encoded body (case 107)', () => {
  it.each([...Object.keys(ENCODERS).map((name) => [name]), ['gzip', 'br'], ['zstd', 'deflate', 'gzip', 'br']])(
    'is what it was before, whatever pieces it comes in: %s %s %s %s',
    async (...names) => {
      const bytes = encoded(names, BODY);
      for (const pieceBytes of [17, 1000, MIB])
        expect((await decode(names, bytes, MIB, pieceBytes)).equals(BODY)).toBe(true);
    },
  );

  it('may have several members with gzip and zstd', async () => {
    for (const name of ['gzip', 'zstd']) {
      const parts = [BODY.subarray(0, 50_000), BODY.subarray(50_000)].map((part) => encoded([name], part));
      expect((await decode([name], Buffer.concat(parts))).equals(BODY)).toBe(true);
    }
  });

  describe.each(Object.keys(ENCODERS))('as %s', (name) => {
    const good = encoded([name], BODY);
    it.each<[string, Buffer]>([
      ['is not encoded', BODY],
      ['is empty', Buffer.alloc(0)],
      ['ends too early', good.subarray(0, -3)],
      ['has trailing data', Buffer.concat([good, Buffer.from('{"model":"other"}')])],
    ])('is rejected by encoding when it %s', async (_, bytes) => {
      await expect(decode([name], bytes)).rejects.toMatchObject({
        kind: 'invalid_request',
        message: expect.stringContaining(name) as string,
      });
    });

    it('is limited by its decoded size to the byte', async () => {
      expect(await decode([name], good, BODY.length)).toHaveLength(BODY.length);
      const refusal = { kind: 'request_too_large' };
      await expect(decode([name], good, BODY.length - 1)).rejects.toMatchObject(refusal);
      const bomb = encoded([name, 'gzip'], Buffer.alloc(20 * MIB));
      await expect(decode([name, 'gzip'], bomb)).rejects.toMatchObject(refusal);
    });
  });

  it('is limited by its size between two encodings, even if it decodes to nothing', async () => {
    const empty = gzipSync(Buffer.alloc(0));
    const parts = Buffer.alloc(empty.length * 100_000, empty);
    await expect(decode(['gzip', 'br'], brotli(parts))).rejects.toMatchObject({
      kind: 'request_too_large',
    });
  });

  it('is rejected when its zstd window exceeds 8 MiB', async () => {
    const params = { [constants.ZSTD_c_windowLog]: 26 };
    const bytes = zstdCompressSync(Buffer.alloc(100 * MIB), { params });
    await expect(decode(['zstd'], bytes, 200 * MIB)).rejects.toMatchObject({ kind: 'invalid_request' });
  });

  it('N6: is rejected when it exceeds 100 times its compressed size and 1 MiB', async () => {
    const bomb = brotli(Buffer.alloc(50 * MIB));
    const request = aRequest();
    const body = new DecodedBody(request, ['br'], 400 * MIB);
    let bytes = 0;
    body.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const refused = new Promise((resolve) => body.once('error', resolve));
    request.push(bomb);
    expect(await refused).toMatchObject({ kind: 'request_too_large', message: expect.stringContaining('100 times') });
    expect(bytes).toBeLessThanOrEqual(MIB);
  });

  it('is accepted when it is small, whatever its compression ratio', async () => {
    expect(await decode(['br'], encoded(['br'], Buffer.alloc(MIB, ' ')))).toHaveLength(MIB);
  });

  it('is decoded on demand', async () => {
    const request = aRequest();
    const body = new DecodedBody(request, ['gzip'], 1000 * MIB);
    request.push(gzipSync(Buffer.alloc(100 * MIB)));
    while (body.readableLength === 0) await nextRound();
    for (let round = 0; round < 200; round += 1) await nextRound();
    expect(body.readableLength).toBeLessThan(MIB);
    body.destroy();
  });

  it('leaves the request intact when destroyed', async () => {
    const request = aRequest();
    const body = new DecodedBody(request, ['gzip'], MIB);
    body.on('error', () => undefined).resume();
    request.push(Buffer.from('no gzip'));
    while (!body.destroyed) await nextRound();
    expect(request.destroyed).toBe(false);
    expect(request.isPaused()).toBe(true);
    for (const event of ['data', 'close', 'end']) expect([event, request.listenerCount(event)]).toEqual([event, 0]);
  });

  it('fails when the client leaves at any time', async () => {
    const request = aRequest();
    const reading = buffer(new DecodedBody(request, ['gzip'], MIB));
    request.push(gzipSync(BODY).subarray(0, 30));
    request.destroy();
    await expect(reading).rejects.toMatchObject({ kind: 'context_canceled' });
    expect(new DecodedBody(request, ['gzip'], MIB).destroyed).toBe(true);
  });
});

describe('a body rejected by its watcher', () => {
  it.each(['identity', 'gzip', 'gzip, gzip'])(
    'is left unread and uses no memory with encoding %s (case 107)',
    async (encoding) => {
      const config = { maxBodyBytes: MIB, bodyMemoryBytes: MIB } as Config;
      const budget = new BodyBudget(config);
      const bodies = new Bodies(config, budget, new RelayTimings(), new TimeSlicer());
      const request = new IncomingMessage(new Socket());
      request.headers['content-encoding'] = encoding;
      const wrong = new Error('no JSON');
      const watcher = {
        next: () => {
          throw wrong;
        },
      };
      const reading = bodies.read(request, watcher, 'acc_1');
      const times = encoding.split('gzip').length - 1;
      // More of it is to come.
      request.push(Array.from({ length: times }).reduce<Buffer>((bytes) => gzipSync(bytes), Buffer.alloc(MIB / 2)));
      await expect(reading).rejects.toBe(wrong);
      expect([request.isPaused(), request.destroyed, budget.takenBytes]).toEqual([true, false, 0]);
      for (const event of ['data', 'end']) expect([event, request.listenerCount(event)]).toEqual([event, 0]);
    },
  );
});
