import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../shared/index.js';
import type { FormBody } from './form.js';

/** Far more than any form of ours has. */
const MAX_BYTES = 64 * 1024;

/** Has the bodies of forms read before guards run: these want to see the token in it. `/v1` reads its own bodies. */
export function readFormBodies(server: FastifyInstance): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (_request: unknown, payload: IncomingMessage) => fieldsOf(await textOf(payload)),
  );
}

async function textOf(payload: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new AppError('request_too_large', `A form has at most ${MAX_BYTES / 1024} KiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function fieldsOf(text: string): FormBody {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields.get(name);
    if (known) known.push(value);
    else fields.set(name, [value]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
