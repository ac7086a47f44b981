import { stopFrom, wordsOf } from './json-text.js';

/** A view into larger memory that is full of stops. */
function viewAt(offset: number, bytes: Uint8Array): Buffer {
  const memory = Buffer.from(new ArrayBuffer(offset + bytes.length + 9)).fill('"');
  memory.set(bytes, offset);
  return memory.subarray(offset, offset + bytes.length);
}

const stopOf = (bytes: Buffer, from = 0): number => stopFrom(bytes, wordsOf(bytes), from);

const isStop = (byte: number): boolean => byte < 0x20 || byte === 0x22 || byte === 0x5c;
const OFFSETS = [0, 1, 2, 3, 4, 5];

describe('stopFrom', () => {
  it.each(OFFSETS)('finds every position from any start, in memory from byte %i', (offset) => {
    for (const stop of Buffer.from('"\\\n\0\x1f')) {
      for (let length = 1; length < 14; length++) {
        for (let at = 0; at < length; at++) {
          const bytes = viewAt(offset, Buffer.alloc(length, 'a').fill(stop, at, at + 1));
          const found = Array.from({ length: length + 1 }, (_, from) => stopOf(bytes, from));
          expect(found).toEqual(found.map((_, from) => (from <= at ? at : length)));
        }
      }
    }
  });

  it('stops at exactly the bytes that must not be in a string, at each word position', () => {
    const places = [0, 1, 2, 3, 4, 5, 6, 7];
    for (let byte = 0; byte < 256; byte++) {
      const found = places.map((at) => stopOf(viewAt(0, Buffer.alloc(8, 'a').fill(byte, at, at + 1))));
      expect([byte, found]).toEqual([byte, places.map((at) => (isStop(byte) ? at : 8))]);
    }
  });

  it('finds the first stop, whatever surrounds it', () => {
    const bytes = [0x00, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa0, 0xa2, 0xdc, 0xff];
    for (const one of bytes) {
      for (const two of bytes) {
        const words = bytes.map((three) => [one, two, three, 0x61]);
        const first = words.map((word) => [...word, 0x22].findIndex(isStop));
        expect(words.map((word) => stopOf(viewAt(0, Buffer.from(word))))).toEqual(first);
      }
    }
  });

  it.each(OFFSETS)('finds distant stops, in memory from byte %i', (offset) => {
    for (let at = 100; at < 300; at++) {
      for (const stop of ['"', '\n']) {
        const bytes = viewAt(offset, Buffer.from(`${'a'.repeat(at)}${stop}aaaaa`));
        expect(stopOf(bytes)).toBe(at);
        expect(stopOf(bytes, 3)).toBe(at);
      }
      expect(stopOf(viewAt(offset, Buffer.alloc(at, 'a')))).toBe(at);
    }
  });

  it('may skip distant escapes but never stops within one', () => {
    const plain = 'a'.repeat(200);
    expect(stopOf(Buffer.from(`${plain}\\n\\\\"`))).toBe(204);
    expect(stopOf(Buffer.from(`${plain}\\n\\\\\\""`))).toBe(204);
    expect(stopOf(Buffer.from(`${plain}\\n\\\\\\`))).toBe(204);
    expect(stopOf(Buffer.from(`${plain}\\n\\\\`))).toBe(204);
    expect(stopOf(Buffer.from(`${plain}\\n\n"`))).toBe(202);
  });
});
