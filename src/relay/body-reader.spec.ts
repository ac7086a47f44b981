import fc from 'fast-check';
import type { Config } from '../platform/config/index.js';
import { BodyBudget } from './body-budget.js';
import { BodyReader, GrowingMemory, SLICE_BYTES } from './body-reader.js';
import { RelayTimings } from './relay-timings.js';
import { TimeSlicer } from './translation-job.js';
import { jest } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';

const MIB = 1024 * 1024;

function aRequest(length?: number): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (length !== undefined) request.headers['content-length'] = String(length);
  return request;
}

function limits(): ConstructorParameters<typeof BodyReader>[2] {
  const share = new BodyBudget({ bodyMemoryBytes: 100 * MIB } as Config).open('acc_1');
  return { maxBytes: 64 * MIB, share, timings: new RelayTimings(), slicer: new TimeSlicer() };
}

describe('BodyReader', () => {
  it.each([true, false])(
    'shows all but the last slice of it as it comes, slice by slice: length known %p',
    async (known) => {
      const body = Buffer.alloc(5 * MIB + 17, 'abcdefg');
      const request = aRequest(known ? body.length : undefined);
      const seen: number[] = [0];
      const reading = new BodyReader(
        request,
        {
          next: (arrived) => {
            expect(arrived.length - (seen.at(-1) ?? 0)).toBeLessThanOrEqual(SLICE_BYTES);
            seen.push(arrived.length);
          },
        },
        limits(),
      ).read();
      for (let at = 0; at < body.length; at += 100_000) request.push(body.subarray(at, at + 100_000));
      request.push(null);
      expect((await reading).equals(body)).toBe(true);
      const rest = body.length - (seen.at(-1) ?? 0);
      expect(rest).toBeLessThanOrEqual(SLICE_BYTES);
      expect(seen.length).toBeGreaterThan(70);
    },
  );

  it('uses no time slice for a body of typical size', async () => {
    const request = aRequest(1000);
    const options = limits();
    const take = jest.spyOn(options.slicer, 'take');
    const reading = new BodyReader(request, { next: () => undefined }, options).read();
    request.push(Buffer.alloc(1000, 'x'));
    request.push(null);
    expect(await reading).toHaveLength(1000);
    expect(take).not.toHaveBeenCalled();
  });

  it('pauses a client that is far ahead of its reader', async () => {
    const request = aRequest(10 * MIB);
    const options = limits();
    const waiting: (() => void)[] = [];
    options.slicer.take = (slice) => void waiting.push(slice);
    const reading = new BodyReader(request, { next: () => undefined }, options).read();
    request.push(Buffer.alloc(5 * MIB));
    await nextRound();
    expect(request.isPaused()).toBe(true);
    while (waiting.length > 0) waiting.shift()?.();
    expect(request.isPaused()).toBe(false);
    request.push(Buffer.alloc(5 * MIB));
    request.push(null);
    for (let round = 0; round < 5; round++, await nextRound()) while (waiting.length > 0) waiting.shift()?.();
    expect(await reading).toHaveLength(10 * MIB);
  });

  it('ends with the watcher’s error and reads no further', async () => {
    const request = aRequest();
    const wrong = new Error('no JSON');
    const reading = new BodyReader(
      request,
      {
        next: () => {
          throw wrong;
        },
      },
      limits(),
    ).read();
    request.push(Buffer.alloc(MIB));
    await expect(reading).rejects.toBe(wrong);
    expect(request.isPaused()).toBe(true);
    expect(request.listenerCount('data')).toBe(0);
  });

  it('fails when the client leaves at any time', async () => {
    const request = aRequest(10);
    const reading = new BodyReader(request, { next: () => undefined }, limits()).read();
    request.push(Buffer.alloc(5));
    request.destroy();
    await expect(reading).rejects.toMatchObject({ kind: 'context_canceled' });
    const gone = new BodyReader(request, { next: () => undefined }, limits()).read();
    await expect(gone).rejects.toMatchObject({ kind: 'context_canceled' });
  });
});

describe('GrowingMemory', () => {
  it('contains all chunks in order, with known or unknown length', () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3000 }), { maxLength: 60 });
    fc.assert(
      fc.property(chunks, fc.boolean(), (added, isKnown) => {
        const whole = Buffer.concat(added);
        const memory = new GrowingMemory(isKnown ? whole.length : 10 * MIB, isKnown);
        for (const chunk of added) memory.add(Buffer.from(chunk));
        expect(memory.length).toBe(whole.length);
        expect(memory.bytes.equals(whole)).toBe(true);
      }),
    );
  });

  it('returns views that do not change while it grows', () => {
    const memory = new GrowingMemory(10 * MIB, false);
    memory.add(Buffer.alloc(60_000, 'a'));
    const before = memory.bytes;
    for (let index = 0; index < 100; index++) memory.add(Buffer.alloc(60_000, 'b'));
    expect(before.every((byte) => byte === 0x61)).toBe(true);
    expect(memory.bytes.subarray(0, 60_000).equals(before)).toBe(true);
    expect(memory.bytes.at(-1)).toBe(0x62);
  });

  it('retains no chunks, however small', () => {
    const memory = new GrowingMemory(MIB, true);
    const first = Buffer.from('x');
    memory.add(first);
    memory.add(Buffer.from('y'));
    expect(memory.bytes.buffer).not.toBe(first.buffer);
  });

  it('rejects chunks beyond its capacity', () => {
    const memory = new GrowingMemory(3, true);
    memory.add(Buffer.from('ab'));
    expect(() => memory.add(Buffer.from('cd'))).toThrow(RangeError);
    expect(memory.bytes.toString()).toBe('ab');
  });
});
