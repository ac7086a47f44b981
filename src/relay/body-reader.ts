import type { IncomingMessage } from 'node:http';
import { AppError } from '../shared/index.js';

/**
 * The whole body of a request. What is known to be too large by its header is refused without reading it.
 * @throws AppError request_too_large, unsupported_media_type, or context_canceled when the client left meanwhile
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new AppError(
      'unsupported_media_type',
      `The content-encoding "${encoding.slice(0, 40)}" is not supported: send the body as it is.`,
    );
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  return new Promise<Buffer>((resolve, reject) => {
    // While the key was checked the client may have left, and its leaving is not told twice.
    if (request.destroyed) return reject(left());
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        request.off('data', onData).resume();
        reject(tooLarge(maxBytes));
      }
    };
    request.on('data', onData);
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', () => reject(left()));
    request.once('close', () => reject(left()));
  });
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('request_too_large', `The body is larger than the ${maxBytes} bytes that this service accepts.`);

const left = (): AppError =>
  new AppError('context_canceled', 'context canceled: the client left before its request was complete.');
