import { jest } from '@jest/globals';
import { of, Subject, type Subscription } from 'rxjs';
import { Flow, type Frame, Interruption } from '../../protocols/contract/index.js';
import { AppError } from '../../platform/shared/index.js';
import { accounted } from './accounted.js';
import type { Ticket } from './ticket.js';

const piece = (last = false): Frame => ({ bytes: Buffer.from(last ? 'end' : 'piece'), signals: [], last });
const failure = (): AppError => new AppError('timeout', 'late');

/** A ticket that remembers what became of it, and whose settlement and credit are let go by hand. */
function aTicket({ admitted = true, covered = true } = {}) {
  let isCovered = covered;
  const fates: string[] = [];
  let settle = (): void => undefined;
  let giveUp = (): void => undefined;
  const settled = new Promise<void>((resolve, reject) => {
    settle = resolve;
    giveUp = () => reject(new AppError('unavailable', 'not recorded'));
  });
  let response: { pay(): void; refuse(error: AppError): void } = { pay: () => undefined, refuse: () => undefined };
  const ticket = {
    call: { head: { stream: true } },
    admission: admitted ? {} : undefined,
    coversOutput: () => isCovered,
    silent: true,
    untilCovered: () => {
      fates.push('asked for credit');
      return new Promise<void>((resolve, reject) => (response = { pay: resolve, refuse: reject }));
    },
    note: () => undefined,
    succeed: () => {
      fates.push('succeeded');
      return settled;
    },
    giveUp: () => {
      fates.push('given up');
      giveUp();
    },
    fail: async ({ kind }: AppError) => void fates.push(`failed: ${kind}`),
    abandon: () => fates.push('abandoned'),
  };
  return {
    ticket: ticket as unknown as Ticket,
    fates,
    settle,
    pay: () => {
      isCovered = true;
      response.pay();
    },
    refuse: (error: AppError) => response.refuse(error),
  };
}

const open: Subscription[] = [];

function listen(ticket: Ticket) {
  const frames = new Subject<Frame>();
  const received: string[] = [];
  const [interruption, flow] = [new Interruption(), new Flow()];
  const subscription = frames.pipe(accounted(ticket, { interruption, flow })).subscribe({
    next: ({ last }) => received.push(last ? 'last' : 'frame'),
    error: ({ kind }: AppError) => received.push(kind),
    complete: () => received.push('complete'),
  });
  open.push(subscription);
  return { frames, received, interruption, flow, subscription };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('accounted', () => {
  afterEach(() => open.splice(0).forEach((subscription) => subscription.unsubscribe()));

  it('sends the last frame only after settlement', async () => {
    const { ticket, fates, settle } = aTicket();
    const { frames, received } = listen(ticket);
    frames.next(piece());
    frames.next(piece(true));
    await nextTurn();
    expect([received, fates]).toEqual([['frame'], ['succeeded']]);
    settle();
    await nextTurn();
    expect(received).toEqual(['frame', 'last', 'complete']);
  });

  it('sends a failure after its settlement', async () => {
    const { ticket, fates } = aTicket();
    const { frames, received } = listen(ticket);
    frames.error(failure());
    expect(received).toEqual([]);
    await nextTurn();
    expect([received, fates.slice(0, 1)]).toEqual([['timeout'], ['failed: timeout']]);
  });

  it('ignores errors after the last frame', async () => {
    const { ticket, fates, settle } = aTicket();
    const { frames, received, interruption } = listen(ticket);
    frames.next(piece(true));
    frames.error(failure());
    expect(interruption.interrupt(failure())).toBe(false);
    settle();
    await nextTurn();
    expect([received, fates.slice(0, 1)]).toEqual([['last', 'complete'], ['succeeded']]);
  });

  it('waits briefly for a settlement in progress when interrupted, then gives it up and fails', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { ticket, fates } = aTicket();
    const { frames, received, interruption } = listen(ticket);
    frames.next(piece(true));
    interruption.interrupt(failure());
    jest.advanceTimersByTime(1499);
    expect([received, fates]).toEqual([[], ['succeeded']]);
    jest.advanceTimersByTime(1);
    jest.useRealTimers();
    await nextTurn();
    expect([received, fates.slice(0, 3)]).toEqual([['unavailable'], ['succeeded', 'given up', 'failed: unavailable']]);
  });

  it('fails once when interrupted and ignores further frames', async () => {
    const { ticket, fates } = aTicket();
    const { frames, received, interruption } = listen(ticket);
    expect(interruption.interrupt(failure())).toBe(true);
    frames.next(piece(true));
    expect(interruption.interrupt(failure())).toBe(false);
    await nextTurn();
    expect([received, fates.filter((fate) => fate !== 'abandoned')]).toEqual([['timeout'], ['failed: timeout']]);
  });

  it('does not interrupt a call during admission, which checks the interruption itself', async () => {
    const { ticket, fates } = aTicket({ admitted: false });
    const { interruption } = listen(ticket);
    expect(interruption.interrupt(failure())).toBe(false);
    await nextTurn();
    expect(fates).toEqual([]);
  });

  it('ignores an interruption after a failure', () => {
    const { ticket, fates } = aTicket();
    const { frames, interruption } = listen(ticket);
    frames.error(failure());
    expect(interruption.interrupt(failure())).toBe(false);
    expect(fates).toEqual(['failed: timeout']);
  });

  it('abandons the call on unsubscription and ignores later interruptions', async () => {
    const { ticket, fates } = aTicket();
    const { subscription, interruption, frames } = listen(ticket);
    subscription.unsubscribe();
    interruption.interrupt(failure());
    await nextTurn();
    expect(fates).toEqual(['abandoned']);
    expect(frames.observed).toBe(false);
  });

  it('meters every frame', async () => {
    const { ticket, settle } = aTicket();
    const note = jest.spyOn(ticket, 'note');
    const signals = [{ type: 'output', units: 3 }] as const;
    of({ ...piece(), signals }, piece(true))
      .pipe(accounted(ticket, { interruption: new Interruption(), flow: new Flow() }))
      .subscribe();
    settle();
    await nextTurn();
    expect(note.mock.calls).toEqual([[signals], [[]]]);
  });

  it('holds back unpaid frames, pauses reading meanwhile, and sends them in order', async () => {
    const { ticket, fates, pay } = aTicket({ covered: false });
    const { frames, received, flow } = listen(ticket);
    frames.next(piece());
    frames.next(piece());
    expect([received, fates, flow.paused]).toEqual([[], ['asked for credit'], true]);
    pay();
    await nextTurn();
    expect([received, flow.paused]).toEqual([['frame', 'frame'], false]);
  });

  it('settles a last frame that waited for credit after the frames before it', async () => {
    const { ticket, fates, pay, settle } = aTicket({ covered: false });
    const { frames, received } = listen(ticket);
    frames.next(piece());
    frames.next(piece(true));
    frames.complete();
    expect(received).toEqual([]);
    pay();
    settle();
    await nextTurn();
    expect([received, fates.slice(0, 2)]).toEqual([
      ['frame', 'last', 'complete'],
      ['asked for credit', 'succeeded'],
    ]);
  });

  it('fails when credit runs out and aborts the upstream immediately', async () => {
    const { ticket, fates, refuse } = aTicket({ covered: false });
    const { frames, received } = listen(ticket);
    frames.next(piece());
    refuse(new AppError('insufficient_quota', 'used up'));
    await nextTurn();
    expect(frames.observed).toBe(false);
    expect([received, fates.slice(0, 2)]).toEqual([
      ['insufficient_quota'],
      ['asked for credit', 'failed: insufficient_quota'],
    ]);
  });

  it('extends the hold while a model shows nothing', async () => {
    jest.useFakeTimers();
    const { ticket, fates } = aTicket({ covered: false });
    const { subscription } = listen(ticket);
    jest.advanceTimersByTime(1000);
    expect(fates).toEqual(['asked for credit']);
    subscription.unsubscribe();
    jest.advanceTimersByTime(60_000);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
});
