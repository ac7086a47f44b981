import type { Caller } from './caller.js';
import { KeyCache } from './key-directory.js';

const aCaller = (overrides: Partial<Caller> = {}): Caller => ({
  keyId: 'key_1',
  keyName: 'key',
  keyState: 'enabled',
  keyVersion: 1,
  isTokenKey: false,
  expiresAt: undefined,
  accountId: 'acc_1',
  accountState: 'enabled',
  memberAccountId: undefined,
  isMemberAllowed: true,
  memberId: null,
  groupName: 'default',
  models: undefined,
  strict: false,
  storesResponses: true,
  isGroupAllowed: true,
  networks: undefined,
  teamNetworks: undefined,
  keyLimits: {},
  accountLimits: {},
  ...overrides,
});

describe('KeyCache', () => {
  it('returns cached keys, known or unknown', () => {
    const cache = new KeyCache();
    const caller = aCaller();
    cache.put('known', caller, 0);
    cache.put('unknown', undefined, 0);
    expect(cache.get('known', 1)?.caller).toBe(caller);
    expect(cache.get('unknown', 1)).toEqual({ caller: undefined, since: 0 });
    expect(cache.get('never seen', 1)).toBeUndefined();
  });

  it('caches an unknown hash for 30 seconds and a known one for a minute', () => {
    const cache = new KeyCache();
    cache.put('known', aCaller(), 0);
    cache.put('unknown', undefined, 0);
    expect(cache.get('unknown', 29_999)).toBeDefined();
    expect(cache.get('unknown', 30_000)).toBeUndefined();
    expect(cache.get('known', 59_999)).toBeDefined();
    expect(cache.get('known', 60_000)).toBeUndefined();
  });

  it('ignores entries older than the requested age', () => {
    const cache = new KeyCache();
    cache.put('known', aCaller(), 0);
    expect(cache.get('known', 999, 1000)).toBeDefined();
    expect(cache.get('known', 1000, 1000)).toBeUndefined();
  });

  it('drops a changed key and all unknown hashes, but no other key', () => {
    const cache = new KeyCache();
    cache.put('one', aCaller({ keyId: 'key_1' }), 0);
    cache.put('two', aCaller({ keyId: 'key_2' }), 0);
    cache.put('unknown', undefined, 0);
    cache.forgetKey('key_1');
    expect(['one', 'two', 'unknown'].map((hash) => cache.get(hash, 1) !== undefined)).toEqual([false, true, false]);
  });

  it('drops all keys of an account', () => {
    const cache = new KeyCache();
    cache.put('one', aCaller({ keyId: 'key_1' }), 0);
    cache.put('two', aCaller({ keyId: 'key_2' }), 0);
    cache.put('other', aCaller({ keyId: 'key_3', accountId: 'acc_2' }), 0);
    cache.forgetAccount('acc_1');
    expect(['one', 'two', 'other'].map((hash) => cache.get(hash, 1) !== undefined)).toEqual([false, false, true]);
  });

  it('stays within its limits, and unknown hashes never evict known ones', () => {
    const cache = new KeyCache({ known: 2, unknown: 2 });
    cache.put('one', aCaller(), 0);
    for (let index = 0; index < 10; index++) cache.put(`unknown key ${index}`, undefined, 0);
    const unknown = Array.from({ length: 10 }, (_, index) => cache.get(`unknown key ${index}`, 1));
    expect(unknown.filter(Boolean)).toHaveLength(2);
    expect(cache.get('one', 1)).toBeDefined();
    cache.put('two', aCaller(), 0);
    cache.put('three', aCaller(), 0);
    expect(['one', 'two', 'three'].map((hash) => cache.get(hash, 1) !== undefined)).toEqual([false, true, true]);
  });

  it('keeps at least half of the allowed unknown hashes', () => {
    const cache = new KeyCache({ known: 2, unknown: 100 });
    for (let index = 0; index < 1000; index++) {
      cache.put(`unknown key ${index}`, undefined, index);
      const kept = Array.from({ length: index + 1 }, (_, other) => cache.get(`unknown key ${other}`, index));
      expect(kept.slice(-50).every(Boolean)).toBe(true);
      expect(kept.filter(Boolean).length).toBeLessThanOrEqual(100);
    }
  });

  it('replaces an unknown hash when it becomes known, in either generation', () => {
    const cache = new KeyCache({ known: 2, unknown: 4 });
    for (const hash of ['old', 'old 2', 'young']) cache.put(hash, undefined, 0);
    cache.put('old', aCaller(), 1);
    cache.put('young', aCaller(), 1);
    cache.forgetAccount('acc_1');
    expect([cache.get('old', 2), cache.get('young', 2)]).toEqual([undefined, undefined]);
    expect(cache.get('old 2', 2)).toBeDefined();
  });

  it('drops unknown hashes of both generations', () => {
    for (const forget of [(cache: KeyCache) => cache.forgetKey('key_1'), (cache: KeyCache) => cache.clear()]) {
      const cache = new KeyCache({ known: 2, unknown: 4 });
      for (const hash of ['old', 'old 2', 'young']) cache.put(hash, undefined, 0);
      forget(cache);
      expect(['old', 'old 2', 'young'].map((hash) => cache.get(hash, 1))).toEqual([undefined, undefined, undefined]);
    }
  });

  it('keeps other entries when one is refreshed', () => {
    const cache = new KeyCache({ known: 2, unknown: 2 });
    cache.put('one', aCaller(), 0);
    cache.put('two', aCaller(), 0);
    cache.put('two', aCaller(), 5);
    expect(cache.get('one', 6)).toBeDefined();
    expect(cache.get('two', 6)?.since).toBe(5);
  });
});
