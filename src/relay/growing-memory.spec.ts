import fc from 'fast-check';
import { GrowingMemory } from './body-reader.js';

const MIB = 1024 * 1024;

describe('GrowingMemory', () => {
  it('contains all chunks in order, with known or unknown length', () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3000 }), { maxLength: 60 });
    fc.assert(
      fc.property(chunks, fc.boolean(), (added, isKnown) => {
        const whole = Buffer.concat(added);
        const memory = new GrowingMemory(isKnown ? whole.length : 10 * MIB, isKnown);
        for (const chunk of added) memory.add(Buffer.from(chunk));
        expect(memory.length).toBe(whole.length);
        expect(memory.bytes.equals(whole)).toBe(true);
      }),
    );
  });

  it('returns views that do not change while it grows', () => {
    const memory = new GrowingMemory(10 * MIB, false);
    memory.add(Buffer.alloc(60_000, 'a'));
    const before = memory.bytes;
    for (let index = 0; index < 100; index++) memory.add(Buffer.alloc(60_000, 'b'));
    expect(before.every((byte) => byte === 0x61)).toBe(true);
    expect(memory.bytes.subarray(0, 60_000).equals(before)).toBe(true);
    expect(memory.bytes.at(-1)).toBe(0x62);
  });

  it('retains no chunks, however small', () => {
    const memory = new GrowingMemory(MIB, true);
    const first = Buffer.from('x');
    memory.add(first);
    memory.add(Buffer.from('y'));
    expect(memory.bytes.buffer).not.toBe(first.buffer);
  });

  it('rejects chunks beyond its capacity', () => {
    const memory = new GrowingMemory(3, true);
    memory.add(Buffer.from('ab'));
    expect(() => memory.add(Buffer.from('cd'))).toThrow(RangeError);
    expect(memory.bytes.toString()).toBe('ab');
  });
});
