import { jest } from '@jest/globals';
import { Flow } from './flow.js';
import { Waits } from './waits.js';

describe('what an answer stands still for', () => {
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

  it('is nothing, as long as it does not', () => {
    waits.end('client');
    expect(records()).toBeUndefined();
  });

  it('is noted by reason, with how often, how long, and when', () => {
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

  it('counts what still goes on, until the end of the call', () => {
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

  it('leaves out what took no time', () => {
    wait(10, 0.2);
    expect(records()).toBeUndefined();
  });

  it('keeps twenty spans, joined where they lie closest together, and the sum of the waits alone', () => {
    // Each second one of 100 ms, and a short one 10 ms behind the fourth.
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

  it('stays small however often a client stops', () => {
    for (let at = 0; at < 5000; at += 1) wait(at * 10, 4);
    const { count, ms, spans } = records()!.client!;
    expect([count, ms]).toEqual([5000, 20_000]);
    expect(spans.length).toBe(20);
    expect(spans.at(-1)!.reduce((sum, part) => sum + part)).toBe(49_994);
  });

  it('is told by the flow who holds it', () => {
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
