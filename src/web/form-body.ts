import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../shared/index.js';
import type { FormBody } from './form.js';

/** Far more than any form of ours has, also that of a channel with hundreds of models. */
const MAX_BYTES = 256 * 1024;

/**
 * Has the bodies of forms read before guards run: these want to see the token in it. `/v1` reads its own bodies.
 * @param withinMs a form that takes longer is refused
 */
export function readFormBodies(server: FastifyInstance, withinMs: number): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (_request: unknown, payload: IncomingMessage) => fieldsOf(await textOf(payload, withinMs)),
  );
}

/** Reads by events: a loop over the stream that is left early closes the connection before it is answered. */
function textOf(payload: IncomingMessage, withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => stop(tooSlow(withinMs)), withinMs);
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return stop(tooLarge());
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    const onLeft = (): void => stop(left());
    function stop(error?: AppError): void {
      clearTimeout(timer);
      payload.off('data', onData).off('end', onEnd).off('close', onLeft);
      if (error === undefined) return;
      // The rest is thrown away by whoever answers.
      payload.pause();
      reject(error);
    }
    if (payload.destroyed) return stop(left());
    payload.on('data', onData).once('end', onEnd).once('error', onLeft).once('close', onLeft);
  });
}

const tooLarge = (): AppError => new AppError('request_too_large', `A form has at most ${MAX_BYTES / 1024} KiB.`);

const tooSlow = (withinMs: number): AppError =>
  new AppError('request_timeout', `The form did not arrive within ${withinMs / 1000} seconds. Send it again.`);

const left = (): AppError => new AppError('context_canceled', 'The browser left before its form was complete.');

function fieldsOf(text: string): FormBody {
  const fields = new Map<string, string[]>();
  // A NUL is nothing that anybody types, and the database takes none.
  for (const [name, value] of new URLSearchParams(text.replaceAll('%00', ''))) {
    const known = fields.get(name);
    if (known) known.push(value);
    else fields.set(name, [value]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
