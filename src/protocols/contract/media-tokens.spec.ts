import { tokensOfAudio, tokensOfFile, tokensOfImage } from './media-tokens.js';

const base64 = (bytes: Buffer): Buffer => Buffer.from(Buffer.concat([bytes, Buffer.alloc(64)]).toString('base64'));

function png(width: number, height: number): Buffer {
  const head = Buffer.alloc(24);
  head.write('\x89PNG\r\n\x1a\n', 'latin1');
  head.write('IHDR', 12, 'latin1');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}

function gif(width: number, height: number): Buffer {
  const head = Buffer.from('GIF89a\0\0\0\0');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return head;
}

/** With a large preview in front. */
function jpeg(width: number, height: number): Buffer {
  const preview = Buffer.alloc(30_002);
  preview.writeUInt16BE(0xffe1, 0);
  preview.writeUInt16BE(30_000, 2);
  const frame = Buffer.from([0xff, 0xc2, 0, 17, 8, 0, 0, 0, 0, 3]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), preview, frame]);
}

function webp(width: number, height: number): Buffer {
  const head = Buffer.alloc(30);
  head.write('RIFF\0\0\0\0WEBPVP8X', 'latin1');
  head.writeUIntLE(width - 1, 24, 3);
  head.writeUIntLE(height - 1, 27, 3);
  return head;
}

function wav(rate: number, blockBytes: number, seconds: number): Buffer {
  const bytes = Buffer.alloc(44 + rate * blockBytes * seconds);
  bytes.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt16LE(blockBytes, 32);
  return bytes;
}

describe('media tokens', () => {
  it.each([
    ['PNG', png],
    ['GIF', gif],
    ['JPEG', jpeg],
    ['WebP', webp],
  ])('depend on image dimensions: %s', (_name, file) => {
    // 300 × 200 / 750; the most expensive vendors bill two tiles of 512.
    expect(tokensOfImage(base64(file(300, 200)))).toEqual({ maxTokens: 520, likelyTokens: 80 });
    expect(tokensOfImage(base64(file(1000, 1000)))).toEqual({ maxTokens: 1334, likelyTokens: 1334 });
    expect(tokensOfImage(base64(file(9000, 9000)))).toEqual({ maxTokens: 4800, likelyTokens: 1600 });
  });

  it('use the default for images with an unknown header', () => {
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(100, 'x'), jpeg(1, 1).subarray(0, 100), png(0, 9)])
      expect(tokensOfImage(base64(bytes))).toEqual({ maxTokens: 4800, likelyTokens: 1600 });
  });

  it('use the duration of WAV and the lowest bitrate of other audio', () => {
    const { maxTokens, likelyTokens } = tokensOfAudio(base64(wav(16_000, 2, 10)));
    expect([Math.round(maxTokens / 10), Math.round(likelyTokens / 10)]).toEqual([32, 10]);
    const other = Buffer.from(Buffer.alloc(750_000).toString('base64'));
    expect(tokensOfAudio(other).maxTokens).toBe(32_000);
    // Impossible headers are ignored.
    const liar = wav(16_000, 2, 10);
    liar.writeUInt32LE(4_000_000_000, 24);
    expect(tokensOfAudio(base64(liar)).maxTokens).toBeGreaterThan(10_000);
  });

  it('depend on the size of a file', () => {
    const file = Buffer.from(Buffer.alloc(60_000).toString('base64'));
    expect(tokensOfFile(file)).toEqual({ maxTokens: 48 * 60_000, likelyTokens: 4000 });
  });
});
