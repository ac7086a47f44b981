import { jest } from '@jest/globals';
import { Metrics } from '../platform/metrics/index.js';
import { InvalidKeyLimits, InvalidKeyThrottle } from './invalid-key-throttle.js';

const here = (): boolean => false;

describe('InvalidKeyThrottle', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const aLine = (limits: Partial<InvalidKeyLimits> = {}): InvalidKeyThrottle =>
    new InvalidKeyThrottle({ ...new InvalidKeyLimits(), perSecond: 100, ...limits }, new Metrics());

  /** Strangers who come at once, and what became of each, by the name of who came. */
  const crowd = (line: InvalidKeyThrottle, address: string, size: number, gone = here): string[] => {
    const refused: string[] = [];
    for (let index = 0; index < size; index++)
      void line.turn(address, gone).then((reported) => refused.push(reported ? address : `${address} too many`));
    return refused;
  };
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it('rejects a few concurrent requests without delay', async () => {
    const refused = crowd(aLine(), '192.0.2.1', 10);
    await pass(0);
    expect(refused).toHaveLength(10);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects at its rate until all are rejected, and leaves no timer behind', async () => {
    const refused = crowd(aLine(), '192.0.2.1', 510);
    await pass(1000);
    expect(refused).toHaveLength(110);
    await pass(1000);
    expect(refused).toHaveLength(210);
    await pass(3000);
    expect(refused).toEqual(Array<string>(510).fill('192.0.2.1'));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('accrues no more than its burst while idle', async () => {
    const line = aLine();
    await pass(60_000);
    const refused = crowd(line, '192.0.2.1', 100);
    await pass(0);
    expect(refused).toHaveLength(10);
  });

  it('keeps new requests behind waiting ones, even when capacity has accrued', async () => {
    const line = aLine();
    const refused = crowd(line, '192.0.2.1', 14);
    await pass(45);
    const late = crowd(line, '192.0.2.2', 1);
    await pass(0);
    expect([refused.length, late.length]).toEqual([10, 0]);
    await pass(5);
    expect([refused.length, late.length]).toEqual([14, 1]);
  });

  it('serves networks in rotation, so that a crowded one does not delay others', async () => {
    const line = aLine();
    const crowded = crowd(line, '192.0.2.1', 800);
    const alone = crowd(line, '192.0.2.2', 1);
    const few = crowd(line, '2001:db8::1', 3);
    await pass(50);
    expect([alone.length, few.length]).toEqual([1, 2]);
    await pass(50);
    expect(few).toHaveLength(3);
    // Ten before there was a line, and six of the ten turns since.
    expect(crowded).toHaveLength(16);
  });

  it('treats all addresses of a /64 as one network', async () => {
    const line = aLine();
    crowd(line, '192.0.2.1', 10);
    const hosts = ['2001:db8::1', '2001:db8::2', '2001:db8::3'].map((address) => crowd(line, address, 10));
    const other = crowd(line, '2001:db8:0:1::1', 10);
    await pass(50);
    expect(hosts.flat()).toHaveLength(3);
    expect(other).toHaveLength(2);
  });

  it('rate-limits at once when the queue of the network, or of all, is full', async () => {
    const line = aLine({ waitingOfNetwork: 3, waiting: 5 });
    const one = crowd(line, '192.0.2.1', 10 + 4);
    const two = crowd(line, '192.0.2.2', 3);
    await pass(0);
    expect(one.filter((reported) => reported.endsWith('too many'))).toHaveLength(1);
    expect(two).toEqual(['192.0.2.2 too many']);
    await pass(50);
    expect(one).toHaveLength(14);
    expect(two).toHaveLength(3);
    const later = crowd(line, '192.0.2.1', 1);
    await pass(50);
    expect(later).toEqual(['192.0.2.1']);
  });

  it('spends no capacity on clients that have left', async () => {
    const line = aLine({ perSecond: 20 });
    crowd(line, '192.0.2.1', 2);
    let left = false;
    const gone = crowd(line, '192.0.2.1', 500, () => left);
    const patient = crowd(line, '192.0.2.1', 1);
    left = true;
    await pass(50);
    expect([gone.length, patient.length]).toEqual([500, 1]);
  });

  it('releases all requests at shutdown, and delays none afterwards', async () => {
    const line = aLine();
    const refused = crowd(line, '192.0.2.1', 500);
    line.onModuleDestroy();
    const last = crowd(line, '192.0.2.1', 500);
    await pass(0);
    expect([refused.length, last.length]).toEqual([500, 500]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
