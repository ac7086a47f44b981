import type { Config } from '../platform/config/index.js';
import { Metrics } from '../platform/metrics/index.js';
import type { BillingService } from './billing/index.js';
import { EventLoopLoad, LoadShedding } from './call.guard.js';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

const LIMITS = { maxCallsInFlight: 1, maxEventLoopDelayMs: 60_000 } as Config;

const aResponse = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

describe('LoadShedding', () => {
  let load: LoadShedding;
  let billing: { admissionDelayMs: number };
  beforeEach(() => (billing = { admissionDelayMs: 0 }));
  beforeEach(() => (load = new LoadShedding(new Metrics(), billing as BillingService, LIMITS)));
  afterEach(() => load.onModuleDestroy());

  it('counts a call until its response ends', () => {
    const response = aResponse();
    load.take(response);
    expect(() => load.take(aResponse())).toThrow('overloaded');
    response.emit('close');
    expect(() => load.take(aResponse())).not.toThrow();
  });

  it('rejects calls while others wait too long for admission', () => {
    billing.admissionDelayMs = 60_001;
    expect(() => load.take(aResponse())).toThrow('overloaded');
    billing.admissionDelayMs = 59_999;
    expect(() => load.take(aResponse())).not.toThrow();
  });

  it('does not count a call whose client has already left', () => {
    const left = aResponse();
    left.destroy();
    left.emit('close');
    load.take(left);
    expect(() => load.take(aResponse())).not.toThrow();
  });
});

const LIMIT_MS = 1000;
/** How often is looked. */
const LOOK_MS = 100;

function after(...turns: readonly number[]): boolean {
  const load = new EventLoopLoad(LIMIT_MS);
  for (const lateMs of turns) load.note(LOOK_MS + lateMs, lateMs);
  return load.slow;
}

const quick = (count: number): number[] => Array.from({ length: count }, () => 1);

describe('EventLoopLoad', () => {
  it('is high after two long turns, but not after a single one', () => {
    expect(after(LIMIT_MS + 1, LIMIT_MS + 1)).toBe(true);
    expect(after(60_000)).toBe(false);
    expect(after(60_000, ...quick(10), 60_000)).toBe(false);
  });

  it('is weighted by time, not by number of turns', () => {
    expect(after(3000, 1, 1, 3000, 1, 1)).toBe(true);
    expect(after(...quick(5), 1500, ...quick(30), 1500, ...quick(30))).toBe(false);
  });

  it('stays high until the delay has halved', () => {
    const high = [1500, 1500];
    expect(after(...high, 700, 700)).toBe(true);
    expect(after(...high, 700, 400)).toBe(false);
    expect(after(...high, ...quick(5))).toBe(false);
    expect(after(700, 700, 700)).toBe(false);
  });
});
