import { concat, from, map, of, range } from 'rxjs';
import type { Call, Frame, StreamDecoder, StreamMeter, VerbatimLane } from '../protocols/contract/index.js';
import type { ReplyState } from './call-context.js';
import { collected } from './collected-response.js';
import { VerbatimWhole } from './lane.js';
import type { RelayTimings } from './relay-timings.js';
import { type FrameOutlet, ResponseStream } from './response-stream.js';
import { FoldedStream, TranslatedWhole, type WholeResponse } from './translated-sink.js';
import type { UpstreamPart } from './upstream/upstream-client.js';

const MIB = 1024 * 1024;
const TOO_LARGE = expect.objectContaining({ kind: 'upstream_error', message: expect.stringContaining('too large') });

/** A response that records its failures. */
const aResponse = (): { readonly response: WholeResponse; readonly failures: unknown[] } => {
  const failures: unknown[] = [];
  const response = {
    fail: (error: unknown) => failures.push(error),
    progress: () => undefined,
    complete: () => undefined,
  };
  return { response: response as unknown as WholeResponse, failures };
};
const mute: StreamDecoder = { next: () => [], end: () => [] };

describe('a buffered response', () => {
  it('fails when it exceeds the maximum size', () => {
    const { response, failures } = aResponse();
    const whole = new TranslatedWhole(response, () => ({ parts: [], stop: 'end', usage: undefined }));
    for (let mib = 1; mib <= 64; mib += 1) whole.chunk(new Uint8Array(MIB));
    expect(failures).toEqual([]);
    whole.chunk(new Uint8Array(1));
    expect(failures).toEqual([TOO_LARGE]);
  });

  it('fails when it is verbatim and exceeds the maximum size', () => {
    const failures: unknown[] = [];
    const out = { next: () => undefined, error: (error: unknown) => failures.push(error), complete: () => undefined };
    const whole = new VerbatimWhole(
      out as unknown as FrameOutlet,
      {} as VerbatimLane,
      {} as Call,
      { committed: true, commit: () => undefined } as unknown as ReplyState,
    );
    for (let mib = 1; mib <= 64; mib += 1) whole.chunk(new Uint8Array(MIB));
    expect(failures).toEqual([]);
    whole.chunk(new Uint8Array(1));
    whole.end();
    expect(failures).toEqual([TOO_LARGE]);
  });

  it('fails when it is collected from a stream that exceeds its larger maximum', () => {
    const { response, failures } = aResponse();
    const folded = new FoldedStream(response, mute, 0);
    const comment = Buffer.from(`:${'x'.repeat(MIB - 3)}\n\n`);
    for (let mib = 1; mib <= 256; mib += 1) folded.chunk(comment);
    expect(failures).toEqual([]);
    folded.chunk(comment);
    folded.chunk(comment);
    expect(failures).toEqual([TOO_LARGE]);
  });

  it('fails and aborts its request when it does not belong to a call', async () => {
    let read = 0;
    const head: UpstreamPart = { type: 'head', status: 200, headers: {} };
    const chunks = range(0, 1000).pipe(
      map((): UpstreamPart => ({ type: 'chunk', bytes: Buffer.alloc((read += 1) && MIB) })),
    );
    await expect(collected(concat(of(head), chunks), 60_000)).rejects.toEqual(TOO_LARGE);
    expect(read).toBe(65);
    const parts: UpstreamPart[] = [
      head,
      { type: 'chunk', bytes: Buffer.from('a') },
      { type: 'chunk', bytes: Buffer.from('b') },
    ];
    expect(Buffer.concat((await collected(from(parts), 60_000)).chunks).toString()).toBe('ab');
  });
});

describe('ResponseStream', () => {
  const PASSING: StreamMeter = {
    closed: false,
    next: () => ({ signals: [], last: false }),
    end: () => ({ signals: [], last: true }),
  };

  it('passes unchanged events of one chunk on without a copy', () => {
    const frames: Frame[] = [];
    const out = { next: (frame: Frame) => frames.push(frame), error: () => undefined, complete: () => undefined };
    const response = { committed: true, commit: () => undefined, tail: {} } as unknown as ReplyState;
    const stream = new ResponseStream(out as unknown as FrameOutlet, PASSING, response, {} as RelayTimings);
    const chunk = Buffer.from('data: {"a":1}\n\ndata: {"a":2}\n\n');
    stream.chunk(chunk);
    const [{ bytes } = { bytes: new Uint8Array() }] = frames;
    expect(Buffer.from(bytes)).toEqual(chunk);
    expect(bytes.buffer).toBe(chunk.buffer);
    expect(frames).toHaveLength(1);
  });
});
