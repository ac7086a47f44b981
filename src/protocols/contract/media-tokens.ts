import { Buffer } from 'node:buffer';

// Token bounds of encoded media, from their headers and sizes.

export interface MediaTokens {
  /** Upper bound, for holds. */
  readonly maxTokens: number;
  /** Charged if the upstream reports no usage. */
  readonly likelyTokens: number;
}

/** Of the most detailed models. */
const MAX_IMAGE_TOKENS = 4800;
/** Of most models. */
export const DEFAULT_IMAGE_TOKENS = 1600;
const PIXELS_PER_TOKEN = 750;
/** Some vendors bill tiles of 512 pixels, rounded up, plus a base. */
const SQUARE_PIXELS = 512;
const TOKENS_PER_SQUARE = 260;

const MAX_AUDIO_TOKENS_PER_SECOND = 32;
const LIKELY_AUDIO_TOKENS_PER_SECOND = 10;
/** Bytes per second: the lowest of any speech codec, and a typical one. */
const MIN_BYTES_PER_SECOND = 750;
const LIKELY_BYTES_PER_SECOND = 8000;
const MAX_WAV_BYTES_PER_SECOND = 192_000 * 4 * 2;

/** A PDF page has at least about 100 bytes and is read as text and as an image. */
const MAX_FILE_TOKENS_PER_BYTE = 48;
const LIKELY_FILE_BYTES_PER_PAGE = 30_000;
const LIKELY_TOKENS_PER_PAGE = 2000;

/** Contains all headers, except in JPEGs with an embedded preview. */
const HEADER_BYTES = 48;
const MAX_JPEG_SEGMENTS = 64;

/** Bytes `[at, at + length)` of the decoded data, or fewer at its end. */
function decoded(base64: Buffer, at: number, length: number): Buffer {
  const from = Math.floor(at / 3) * 4;
  const text = base64.toString('latin1', from, from + Math.ceil((length + 2) / 3) * 4 + 4);
  return Buffer.from(text, 'base64').subarray(at % 3, (at % 3) + length);
}

const bytesOf = (base64: Buffer): number => Math.ceil((base64.length * 3) / 4);

/** By the dimensions in its header, if known. */
export function tokensOfImage(base64: Buffer): MediaTokens {
  const pixels = pixelsOf(base64);
  if (pixels === undefined) return { maxTokens: MAX_IMAGE_TOKENS, likelyTokens: DEFAULT_IMAGE_TOKENS };
  const { width, height } = pixels;
  const squares = Math.ceil(width / SQUARE_PIXELS) * Math.ceil(height / SQUARE_PIXELS);
  const byPixels = Math.ceil((width * height) / PIXELS_PER_TOKEN);
  return {
    maxTokens: Math.min(MAX_IMAGE_TOKENS, Math.max(byPixels, TOKENS_PER_SQUARE * (squares + 1))),
    likelyTokens: Math.min(DEFAULT_IMAGE_TOKENS, Math.max(1, byPixels)),
  };
}

interface Pixels {
  readonly width: number;
  readonly height: number;
}

function pixelsOf(base64: Buffer): Pixels | undefined {
  const head = decoded(base64, 0, HEADER_BYTES);
  if (head.length < HEADER_BYTES) return undefined;
  const pixels = pngPixels(head) ?? gifPixels(head) ?? webpPixels(head) ?? jpegPixels(base64, head);
  return pixels !== undefined && pixels.width > 0 && pixels.height > 0 ? pixels : undefined;
}

const pngPixels = (head: Buffer): Pixels | undefined =>
  head.toString('latin1', 1, 4) === 'PNG' ? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) } : undefined;

const gifPixels = (head: Buffer): Pixels | undefined =>
  head.toString('latin1', 0, 3) === 'GIF' ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) } : undefined;

function webpPixels(head: Buffer): Pixels | undefined {
  if (head.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

/** Follows JPEG segments to the start of frame. */
function jpegPixels(base64: Buffer, head: Buffer): Pixels | undefined {
  if (head.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  for (let segment = 0; segment < MAX_JPEG_SEGMENTS; segment++) {
    const bytes = decoded(base64, at, 9);
    if (bytes.length < 9 || bytes[0] !== 0xff) return undefined;
    const marker = bytes[1] ?? 0;
    const beginsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (beginsFrame) return { width: bytes.readUInt16BE(7), height: bytes.readUInt16BE(5) };
    at += 2 + bytes.readUInt16BE(2);
  }
  return undefined;
}

/** By duration: from the header, else at the lowest bitrate. */
export function tokensOfAudio(base64: Buffer): MediaTokens {
  const bytes = bytesOf(base64);
  const perSecond = wavBytesPerSecond(decoded(base64, 0, HEADER_BYTES));
  const maxSeconds = bytes / (perSecond ?? MIN_BYTES_PER_SECOND);
  const likelySeconds = bytes / (perSecond ?? LIKELY_BYTES_PER_SECOND);
  return {
    maxTokens: Math.ceil(maxSeconds * MAX_AUDIO_TOKENS_PER_SECOND),
    likelyTokens: Math.ceil(likelySeconds * LIKELY_AUDIO_TOKENS_PER_SECOND),
  };
}

/** For PCM, from its rate and sample size; undefined for others. */
function wavBytesPerSecond(head: Buffer): number | undefined {
  if (head.length < HEADER_BYTES || head.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  const isUncompressed = head.toString('latin1', 12, 16) === 'fmt ' && head.readUInt16LE(20) === 1;
  const perSecond = head.readUInt32LE(24) * head.readUInt16LE(32);
  return isUncompressed && perSecond >= MIN_BYTES_PER_SECOND && perSecond <= MAX_WAV_BYTES_PER_SECOND
    ? perSecond
    : undefined;
}

export function tokensOfFile(base64: Buffer): MediaTokens {
  const bytes = bytesOf(base64);
  const pages = Math.ceil(bytes / LIKELY_FILE_BYTES_PER_PAGE);
  return { maxTokens: bytes * MAX_FILE_TOKENS_PER_BYTE, likelyTokens: pages * LIKELY_TOKENS_PER_PAGE };
}
