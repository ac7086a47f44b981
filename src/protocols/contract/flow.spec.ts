import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Flow, Waits } from './flow.js';

function aSource() {
  const reported: string[] = [];
  return { reported, pause: () => void reported.push('pause'), resume: () => void reported.push('resume') };
}

describe('Flow', () => {
  it('pauses while any holder holds it', () => {
    const [flow, source] = [new Flow(), aSource()];
    flow.attach(source);
    flow.hold('client');
    flow.hold('credit');
    flow.hold('client');
    flow.release('credit');
    expect([source.reported, flow.paused]).toEqual([['pause'], true]);
    flow.release('client');
    expect([source.reported, flow.paused]).toEqual([['pause', 'resume'], false]);
  });

  it('tells whether the client is not reading', () => {
    const flow = new Flow();
    flow.hold('credit');
    expect([flow.paused, flow.full]).toEqual([true, false]);
    flow.hold('client');
    expect(flow.full).toBe(true);
  });

  it('pauses a source attached while held, and no detached source', () => {
    const [flow, first, second] = [new Flow(), aSource(), aSource()];
    const detach = flow.attach(first);
    flow.hold('client');
    detach();
    flow.attach(second);
    flow.release('client');
    expect([first.reported, second.reported]).toEqual([['pause'], ['pause', 'resume']]);
  });

  it('counts held time once for several holders', async () => {
    const flow = new Flow();
    expect(flow.pausedMs).toBe(0);
    flow.hold('client');
    flow.hold('credit');
    await sleep(30);
    expect(flow.pausedMs).toBeGreaterThan(25);
    flow.release('client');
    flow.release('credit');
    const heldMs = flow.pausedMs;
    await sleep(10);
    expect(flow.pausedMs).toBe(heldMs);
    flow.hold('client');
    await sleep(10);
    expect(flow.pausedMs).toBeGreaterThan(heldMs + 5);
  });
});

describe('Waits', () => {
  let nowMs: number;
  let waits: Waits;
  beforeEach(() => {
    nowMs = 1000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    waits = new Waits(1000);
  });
  afterEach(() => jest.restoreAllMocks());

  const records = () => waits.recordsUntil(nowMs - 1000);
  const wait = (atMs: number, tookMs: number): void => {
    nowMs = 1000 + atMs;
    waits.begin('client');
    nowMs += tookMs;
    waits.end('client');
  };

  it('has no records without waits', () => {
    waits.end('client');
    expect(records()).toBeUndefined();
  });

  it('records number, duration and times by reason', () => {
    wait(10, 5);
    nowMs = 1020;
    waits.begin('credit');
    nowMs = 1050;
    waits.end('credit');
    wait(100, 200);
    expect(records()).toEqual({
      client: {
        count: 2,
        ms: 205,
        spans: [
          [10, 5],
          [100, 200],
        ],
      },
      credit: { count: 1, ms: 30, spans: [[20, 30]] },
    });
  });

  it('counts ongoing waits until the end of the call', () => {
    wait(10, 5);
    nowMs = 1040;
    waits.begin('client');
    waits.begin('client');
    nowMs = 1100;
    expect(records()?.client).toEqual({
      count: 2,
      ms: 65,
      spans: [
        [10, 5],
        [40, 60],
      ],
    });
  });

  it('omits waits without duration', () => {
    wait(10, 0.2);
    expect(records()).toBeUndefined();
  });

  it('keeps twenty spans, merging the closest, and the exact total', () => {
    // 100 ms every second, and a short one 10 ms after the fourth.
    for (let second = 0; second < 20; second += 1) {
      wait(second * 1000, 100);
      if (second === 3) wait(3110, 50);
    }
    const { count, ms, spans } = records()!.client!;
    expect([count, ms, spans.length]).toEqual([21, 2050, 20]);
    expect(spans.slice(2, 5)).toEqual([
      [2000, 100],
      [3000, 160],
      [4000, 100],
    ]);
  });

  it('stays small however often a client pauses', () => {
    for (let at = 0; at < 5000; at += 1) wait(at * 10, 4);
    const { count, ms, spans } = records()!.client!;
    expect([count, ms]).toEqual([5000, 20_000]);
    expect(spans.length).toBe(20);
    expect(spans.at(-1)!.reduce((sum, part) => sum + part)).toBe(49_994);
  });

  it('is recorded by the flow', () => {
    const flow = new Flow(waits);
    flow.hold('client');
    nowMs = 1010;
    flow.hold('credit');
    nowMs = 1030;
    flow.release('client');
    nowMs = 1060;
    flow.release('credit');
    expect(records()).toMatchObject({ client: { spans: [[0, 30]] }, credit: { spans: [[10, 50]] } });
  });
});
