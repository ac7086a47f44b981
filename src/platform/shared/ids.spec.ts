import { idTime, newId } from './ids.js';

describe('ids', () => {
  it('contain their creation time', () => {
    const id = newId('req', 1_795_000_000_123);
    expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(idTime(id)).toBe(1_795_000_000_123);
  });

  it('sort by creation time, and are unique', () => {
    const ids = [1, 2, 3].map((ms) => newId('req', 1_795_000_000_000 + ms));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(Array.from({ length: 1000 }, () => newId('key', 5))).size).toBe(1000);
  });

  it('of other systems have no time', () => {
    expect(idTime('req_123')).toBeUndefined();
    expect(idTime('chatcmpl-971bf36cf9214a60b8d4030e16b7fe12')).toBeUndefined();
  });
});
