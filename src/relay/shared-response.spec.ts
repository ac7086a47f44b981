import { Subject } from 'rxjs';
import { type Flow, type Frame, Interruption } from '../protocols/contract/index.js';
import type { Config } from '../platform/config/index.js';
import { AppError } from '../platform/shared/index.js';
import { ReplyState } from './call-context.js';
import { SharedMemory, SharedResponse } from './shared-response.js';

const MIB = 1024 * 1024;
const frame = (bytes: number, last = false): Frame => ({ bytes: new Uint8Array(bytes), signals: [], last });

const memoryOf = (sharedMemoryBytes: number): SharedMemory => new SharedMemory({ sharedMemoryBytes } as Config);

/** A running call whose frames the test sends, and its clients. */
class Running {
  readonly frames = new Subject<Frame>();
  readonly response = new ReplyState(new Interruption(), 0);
  readonly shared: SharedResponse;

  constructor(readonly memory = memoryOf(100 * MIB)) {
    this.shared = new SharedResponse('req_1', this.response, this.frames, memory);
  }

  /** @param isStalled it takes nothing from the beginning */
  join(isStalled = false): TestClient {
    return new TestClient(this.shared, isStalled);
  }
}

class TestClient {
  bytes = 0;
  failure: unknown;
  isOver = false;
  readonly flow: Flow;
  readonly leave: () => void;

  constructor(shared: SharedResponse, isStalled: boolean) {
    const { facts, frames } = shared.reply();
    this.flow = facts.flow;
    if (isStalled) this.flow.hold('client');
    const subscription = frames.subscribe({
      next: ({ bytes }) => (this.bytes += bytes.length),
      error: (error: unknown) => (this.failure = error),
      complete: () => (this.isOver = true),
    });
    this.leave = () => subscription.unsubscribe();
  }
}

describe('SharedResponse', () => {
  it('ends with the stream’s error for all clients except a disconnected one', () => {
    const call = new Running();
    const failed: string[] = [];
    const fail = ({ message }: AppError): string => `failed ${failed.push(message)}`;
    call.response.renderer = { next: () => '', fail };
    const { facts } = call.shared.reply();
    const client = call.join();
    const wordsFor = (message: string): string | undefined =>
      facts.failure(new AppError('internal', message))?.toString();
    expect([wordsFor('too far behind'), failed]).toEqual([undefined, []]);
    call.frames.error(client.failure);
    expect([wordsFor('broken'), wordsFor('broken'), failed]).toEqual(['failed 1', 'failed 1', ['broken']]);
  });

  it('resumes reading for a client that joins while all others are stalled', () => {
    const call = new Running();
    const first = call.join();
    call.frames.next(frame(10));
    first.flow.hold('client');
    expect(call.response.flow.paused).toBe(true);
    const second = call.join();
    expect(second.bytes).toBe(10);
    expect(call.response.flow.paused).toBe(false);
    call.frames.next(frame(5));
    expect([first.bytes, second.bytes]).toEqual([10, 15]);
  });

  it('stays paused when the joining client accepts nothing either', () => {
    const call = new Running();
    call.join().flow.hold('client');
    call.join(true);
    expect(call.response.flow.paused).toBe(true);
  });
});

describe('SharedMemory', () => {
  it('counts buffered bytes and releases them when the last client has left', () => {
    const memory = memoryOf(10 * MIB);
    const [one, other] = [new Running(memory), new Running(memory)];
    const clients = [one.join(), one.join(), other.join()];
    one.frames.next(frame(3 * MIB));
    other.frames.next(frame(2 * MIB));
    expect(memory.takenBytes).toBe(5 * MIB);
    one.frames.complete();
    expect(clients.map(({ isOver }) => isOver)).toEqual([true, true, false]);
    expect(memory.takenBytes).toBe(2 * MIB);
    clients[2]!.leave();
    clients[2]!.leave();
    expect(memory.takenBytes).toBe(0);
  });

  it('is kept for a client that still reads after the call has ended', () => {
    const call = new Running();
    call.join();
    const slow = call.join(true);
    call.frames.next(frame(MIB));
    call.frames.complete();
    expect(call.memory.takenBytes).toBe(MIB);
    slow.flow.release('client');
    expect([slow.bytes, slow.isOver, call.memory.takenBytes]).toEqual([MIB, true, 0]);
  });

  it('is released when it is short, which ends sharing', () => {
    const memory = memoryOf(5 * MIB);
    const [one, other] = [new Running(memory), new Running(memory)];
    const clients = [one.join(), one.join(), other.join()];
    one.frames.next(frame(3 * MIB));
    other.frames.next(frame(2 * MIB));
    expect([one.shared.partialReason, other.shared.partialReason]).toEqual([undefined, undefined]);
    one.frames.next(frame(1));
    expect(one.shared.partialReason).toContain('memory');
    expect(other.shared.partialReason).toBeUndefined();
    expect(memory.takenBytes).toBe(2 * MIB);
    // There is room again, but no new client could get the whole response.
    one.frames.next(frame(1));
    expect(one.shared.partialReason).toContain('memory');
    expect(memory.takenBytes).toBe(2 * MIB);
    one.frames.complete();
    expect(clients.map(({ bytes, isOver }) => [bytes, isOver])).toEqual([
      [3 * MIB + 2, true],
      [3 * MIB + 2, true],
      [2 * MIB, false],
    ]);
  });

  it('is not kept for a client far behind the others when it is short', () => {
    const call = new Running(memoryOf(2 * MIB));
    const [first, near, stalled] = [call.join(), call.join(), call.join(true)];
    call.frames.next(frame(2 * MIB));
    near.flow.hold('client');
    expect(stalled.failure).toBeUndefined();
    call.frames.next(frame(1000));
    expect(stalled.failure).toMatchObject({ message: expect.stringContaining('disconnected') as string });
    expect([first, near].map(({ bytes, failure }) => [bytes, failure])).toEqual([
      [2 * MIB + 1000, undefined],
      [2 * MIB, undefined],
    ]);
    expect(call.memory.takenBytes).toBe(1000);
    near.flow.release('client');
    expect(near.bytes).toBe(2 * MIB + 1000);
  });

  it('is not used for a single client, however much passes', () => {
    const call = new Running(memoryOf(MIB));
    const client = call.join();
    for (let count = 0; count < 20; count++) call.frames.next(frame(MIB));
    expect(client.bytes).toBe(20 * MIB);
    expect(call.memory.takenBytes).toBe(0);
  });
});
