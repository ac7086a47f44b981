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
    covered,
    silent: true,
    cover: () => {
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
      ticket.covered = true;
      response.pay();
    },
    refuse: (error: AppError) => response.refuse(error),
  };
}

const open: Subscription[] = [];

function listen(ticket: Ticket) {
  const frames = new Subject<Frame>();
  const heard: string[] = [];
  const [interruption, flow] = [new Interruption(), new Flow()];
  const subscription = frames.pipe(accounted(ticket, { interruption, flow })).subscribe({
    next: ({ last }) => heard.push(last ? 'last' : 'frame'),
    error: ({ kind }: AppError) => heard.push(kind),
    complete: () => heard.push('complete'),
  });
  open.push(subscription);
  return { frames, heard, interruption, flow, subscription };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('accounted', () => {
  afterEach(() => open.splice(0).forEach((subscription) => subscription.unsubscribe()));

  it('lets the last frame go only when the call is settled', async () => {
    const { ticket, fates, settle } = aTicket();
    const { frames, heard } = listen(ticket);
    frames.next(piece());
    frames.next(piece(true));
    await nextTurn();
    expect([heard, fates]).toEqual([['frame'], ['succeeded']]);
    settle();
    await nextTurn();
    expect(heard).toEqual(['frame', 'last', 'complete']);
  });

  it('tells a failure when it is settled', async () => {
    const { ticket, fates } = aTicket();
    const { frames, heard } = listen(ticket);
    frames.error(failure());
    expect(heard).toEqual([]);
    await nextTurn();
    expect([heard, fates.slice(0, 1)]).toEqual([['timeout'], ['failed: timeout']]);
  });

  it('does not let an answer that is complete fail because of what comes behind it', async () => {
    const { ticket, fates, settle } = aTicket();
    const { frames, heard, interruption } = listen(ticket);
    frames.next(piece(true));
    frames.error(failure());
    expect(interruption.interrupt(failure())).toBe(false);
    settle();
    await nextTurn();
    expect([heard, fates.slice(0, 1)]).toEqual([['last', 'complete'], ['succeeded']]);
  });

  it('waits a little for a settlement that an interruption meets, then gives it up and fails as it does', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { ticket, fates } = aTicket();
    const { frames, heard, interruption } = listen(ticket);
    frames.next(piece(true));
    interruption.interrupt(failure());
    jest.advanceTimersByTime(1499);
    expect([heard, fates]).toEqual([[], ['succeeded']]);
    jest.advanceTimersByTime(1);
    jest.useRealTimers();
    await nextTurn();
    expect([heard, fates.slice(0, 3)]).toEqual([['unavailable'], ['succeeded', 'given up', 'failed: unavailable']]);
  });

  it('fails by an interruption, once, and hears no more of the answer', async () => {
    const { ticket, fates } = aTicket();
    const { frames, heard, interruption } = listen(ticket);
    expect(interruption.interrupt(failure())).toBe(true);
    frames.next(piece(true));
    expect(interruption.interrupt(failure())).toBe(false);
    await nextTurn();
    expect([heard, fates.filter((fate) => fate !== 'abandoned')]).toEqual([['timeout'], ['failed: timeout']]);
  });

  it('does not interrupt a call that is still being admitted: whoever admits it looks', async () => {
    const { ticket, fates } = aTicket({ admitted: false });
    const { interruption } = listen(ticket);
    expect(interruption.interrupt(failure())).toBe(false);
    await nextTurn();
    expect(fates).toEqual([]);
  });

  it('has nothing fail by an interruption when the call has failed already', () => {
    const { ticket, fates } = aTicket();
    const { frames, interruption } = listen(ticket);
    frames.error(failure());
    expect(interruption.interrupt(failure())).toBe(false);
    expect(fates).toEqual(['failed: timeout']);
  });

  it('abandons the call when nobody listens any more, and hears of no interruption then', async () => {
    const { ticket, fates } = aTicket();
    const { subscription, interruption, frames } = listen(ticket);
    subscription.unsubscribe();
    interruption.interrupt(failure());
    await nextTurn();
    expect(fates).toEqual(['abandoned']);
    expect(frames.observed).toBe(false);
  });

  it('looks at every frame for what it costs', async () => {
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

  it('keeps back what is not paid for, reads no further meanwhile, and lets it go in order', async () => {
    const { ticket, fates, pay } = aTicket({ covered: false });
    const { frames, heard, flow } = listen(ticket);
    frames.next(piece());
    frames.next(piece());
    expect([heard, fates, flow.paused]).toEqual([[], ['asked for credit'], true]);
    pay();
    await nextTurn();
    expect([heard, flow.paused]).toEqual([['frame', 'frame'], false]);
  });

  it('settles an end that has waited for credit behind what came before it', async () => {
    const { ticket, fates, pay, settle } = aTicket({ covered: false });
    const { frames, heard } = listen(ticket);
    frames.next(piece());
    frames.next(piece(true));
    frames.complete();
    expect(heard).toEqual([]);
    pay();
    settle();
    await nextTurn();
    expect([heard, fates.slice(0, 2)]).toEqual([
      ['frame', 'last', 'complete'],
      ['asked for credit', 'succeeded'],
    ]);
  });

  it('fails when there is no more credit, and leaves the upstream at once', async () => {
    const { ticket, fates, refuse } = aTicket({ covered: false });
    const { frames, heard } = listen(ticket);
    frames.next(piece());
    refuse(new AppError('insufficient_quota', 'used up'));
    await nextTurn();
    expect(frames.observed).toBe(false);
    expect([heard, fates.slice(0, 2)]).toEqual([
      ['insufficient_quota'],
      ['asked for credit', 'failed: insufficient_quota'],
    ]);
  });

  it('asks for credit while a model shows nothing', async () => {
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
