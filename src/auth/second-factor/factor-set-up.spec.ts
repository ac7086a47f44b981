import decodeQr from 'qr/decode.js';
import { newTotpSecret, totpAddress } from './totp.js';
import { type QrCode, qrCode } from './factor-set-up.js';

/** Pixels of a module in each direction. */
const SCALE = 4;
const RECTANGLE = /M(\d+) (\d+)h(\d+)v1h-(\d+)z/g;

/** As a camera sees it: black where the path is, and white around. */
function seen({ size, path }: QrCode): { readonly width: number; readonly height: number; readonly data: Uint8Array } {
  const side = size * SCALE;
  const data = new Uint8Array(side * side * 3).fill(255);
  expect(path.replaceAll(RECTANGLE, '')).toBe('');
  for (const [, ...numbers] of path.matchAll(RECTANGLE)) {
    const [x = 0, y = 0, width = 0, back] = numbers.map(Number);
    expect(back).toBe(width);
    for (let row = y * SCALE; row < (y + 1) * SCALE; row++)
      data.fill(0, (row * side + x * SCALE) * 3, (row * side + (x + width) * SCALE) * 3);
  }
  return { width: side, height: side, data };
}

describe('qrCode', () => {
  it.each([
    ['a usual name', 'Switchboard', 'ann@example.com'],
    ['a name in many letters', 'Ann & Bob: Relay 研究', 'ann+x@example.com'],
    [
      'the longest names',
      '😀'.repeat(60),
      `${'+'.repeat(64)}@${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.com`,
    ],
  ])('decodes to its input, with %s', (_, product, email) => {
    const address = totpAddress(newTotpSecret(), product, email);
    expect(decodeQr(seen(qrCode(address)), { timeLimit: 10_000 })).toBe(address);
  });

  it('has a quiet zone of four modules', () => {
    const { size, path } = qrCode('otpauth://totp/x');
    for (const [, x, y, width] of path.matchAll(RECTANGLE)) {
      expect(Math.min(Number(x), Number(y))).toBeGreaterThanOrEqual(4);
      expect(Math.max(Number(x) + Number(width), Number(y) + 1)).toBeLessThanOrEqual(size - 4);
    }
  });
});
