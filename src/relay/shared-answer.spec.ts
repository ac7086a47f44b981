import { Subject } from 'rxjs';
import { type Flow, type Frame, Interruption } from '../call/index.js';
import { Answer } from './answer.js';
import { SharedAnswer } from './shared-answer.js';

const MIB = 1024 * 1024;
const frame = (bytes: number, last = false): Frame => ({ bytes: new Uint8Array(bytes), signals: [], last });

/** A running call whose frames the test sends, and its clients. */
class Running {
  readonly frames = new Subject<Frame>();
  readonly answer = new Answer(new Interruption(), 0);
  readonly shared = new SharedAnswer('req_1', this.answer, this.frames);

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

  constructor(shared: SharedAnswer, isStalled: boolean) {
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

describe('an answer for several clients', () => {
  it('is read on for a client that comes while all others are stalled', () => {
    const call = new Running();
    const first = call.join();
    call.frames.next(frame(10));
    first.flow.hold('client');
    expect(call.answer.flow.paused).toBe(true);
    const second = call.join();
    expect(second.bytes).toBe(10);
    expect(call.answer.flow.paused).toBe(false);
    call.frames.next(frame(5));
    expect([first.bytes, second.bytes]).toEqual([10, 15]);
  });

  it('stays held back when the one that comes takes nothing either', () => {
    const call = new Running();
    call.join().flow.hold('client');
    call.join(true);
    expect(call.answer.flow.paused).toBe(true);
  });
});
