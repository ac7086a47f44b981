import { AppError } from '../platform/shared/index.js';

// Why a body is not read to its end.

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('request_too_large', `The body exceeds the maximum of ${maxBytes} bytes.`);

export const expandsTooFar = (): AppError =>
  new AppError(
    'request_too_large',
    'The body decompresses to more than 100 times its size. Send it uncompressed or with less compression.',
  );

export const tooManyChunks = (leastBytes: number): AppError =>
  new AppError('invalid_request', `The body arrives in too many chunks under ${leastBytes} bytes. Send larger chunks.`);

export const tooSlow = (bodyMs: number, bytesPerSecond: number): AppError =>
  new AppError(
    'request_timeout',
    `The body arrived too slowly: under ${bytesPerSecond} bytes per second for more than ${bodyMs / 1000} s.`,
  );

export const left = (): AppError =>
  new AppError('context_canceled', 'context canceled: the client disconnected before its request was complete.');

export const corrupt = (encoding: string): AppError =>
  new AppError('invalid_request', `The body is not valid ${encoding}, as declared in content-encoding.`);

export const unsupportedEncoding = (encoding: string, supported: readonly string[]): AppError =>
  new AppError(
    'unsupported_media_type',
    `The content-encoding "${encoding.slice(0, 40)}" is not supported. Use ${supported.join(', ')}, or no encoding.`,
  );

export const tooManyEncodings = (most: number): AppError =>
  new AppError('unsupported_media_type', `The body has more than ${most} content encodings. Send it without.`);
