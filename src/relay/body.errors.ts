import { AppError } from '../platform/shared/index.js';

// Why a body is not read to its end.

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('request_too_large', `The body is larger than the ${maxBytes} bytes that this service accepts.`);

export const expandsTooFar = (): AppError =>
  new AppError(
    'request_too_large',
    'The body expands to more than 100 times its compressed size. Send it uncompressed, or with less compression.',
  );

export const tooManyChunks = (leastBytes: number): AppError =>
  new AppError(
    'invalid_request',
    `The body comes in too many pieces of less than ${leastBytes} bytes: send larger ones.`,
  );

export const tooSlow = (bodyMs: number, bytesPerSecond: number): AppError =>
  new AppError(
    'request_timeout',
    `The body did not arrive in time: it takes longer than ${bodyMs / 1000} s and comes at less than ${bytesPerSecond} bytes a second.`,
  );

export const left = (): AppError =>
  new AppError('context_canceled', 'context canceled: the client left before its request was complete.');

export const corrupt = (encoding: string): AppError =>
  new AppError('invalid_request', `The body is not valid ${encoding}, which its content-encoding says it is.`);

export const unsupportedEncoding = (encoding: string, supported: readonly string[]): AppError =>
  new AppError(
    'unsupported_media_type',
    `The content-encoding "${encoding.slice(0, 40)}" is not supported: use ${supported.join(', ')}, or send the body as it is.`,
  );

export const tooManyEncodings = (most: number): AppError =>
  new AppError('unsupported_media_type', `The body is encoded more than ${most} times: send it as it is.`);
