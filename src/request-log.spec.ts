import { jest } from '@jest/globals';
import { StrangerCount } from './request-log.js';

describe('StrangerCount', () => {
  const warnings: object[] = [];
  let count: StrangerCount;
  beforeEach(() => {
    jest.useFakeTimers();
    warnings.length = 0;
    count = new StrangerCount({ warn: (members: object) => void warnings.push(members) });
  });
  afterEach(() => jest.useRealTimers());

  const logged = (address: string, requests: number): number =>
    Array.from({ length: requests }, () => count.mayLog(address)).filter(Boolean).length;

  it('lets twenty requests of a network be logged in a minute, and tells how many others there were', () => {
    expect([logged('192.0.2.1', 1000), logged('192.0.2.2', 20), logged('2001:db8::1', 15)]).toEqual([20, 20, 15]);
    expect(logged('2001:db8::2', 15)).toBe(5);
    expect(warnings).toEqual([]);
    jest.advanceTimersByTime(60_000);
    expect(warnings).toEqual([
      { network: '192.0.2.1', requests: 1000, left_out: 980 },
      { network: '2001:db8:0:0::/64', requests: 30, left_out: 10 },
    ]);
    expect(logged('192.0.2.1', 1000)).toBe(20);
    expect(warnings).toHaveLength(2);
  });

  it('keeps no timer while nobody comes, and nothing of a minute that is over', () => {
    logged('192.0.2.1', 30);
    jest.advanceTimersByTime(60_000);
    expect(jest.getTimerCount()).toBe(0);
    count.tell();
    expect(warnings).toHaveLength(1);
  });

  it('remembers no more networks than it may, and counts those beyond as one', () => {
    for (let index = 0; index < 10_000; index++) count.mayLog(`host-${index}`);
    expect(Array.from({ length: 30 }, (_, index) => count.mayLog(`late-${index}`)).filter(Boolean)).toHaveLength(20);
    expect(logged('host-5', 30)).toBe(19);
    count.tell();
    expect(warnings).toEqual([
      { network: 'host-5', requests: 31, left_out: 11 },
      { network: 'others', requests: 30, left_out: 10 },
    ]);
  });
});
