import { ExpansionLimit } from './small-body.js';

const MIB = 1024 * 1024;

describe('the expansion limit', () => {
  it('allows 1 MiB when the compressed bytes are few', () => {
    const limit = new ExpansionLimit();
    limit.compressed(Buffer.alloc(316));
    expect([limit.isExceededBy(MIB), limit.isExceededBy(MIB + 1)]).toEqual([false, true]);
  });

  it('allows 100 times the compressed bytes when that is more', () => {
    const limit = new ExpansionLimit();
    limit.compressed(Buffer.alloc(MIB));
    limit.compressed(Buffer.alloc(MIB));
    expect([limit.isExceededBy(200 * MIB), limit.isExceededBy(200 * MIB + 1)]).toEqual([false, true]);
  });
});
