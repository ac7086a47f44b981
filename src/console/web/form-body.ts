import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { FormBody } from './form.js';
import { readSmallBody } from '../../platform/shared/index.js';

/** Far more than any form of ours has, also that of a channel with hundreds of models. */
const MAX_BYTES = 256 * 1024;

/**
 * Has the bodies of forms read before guards run: these want to see the token in it. `/v1` reads its own bodies.
 * @param withinMs a form that takes longer is refused
 */
export function readFormBodies(server: FastifyInstance, withinMs: number): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (_request: unknown, payload: IncomingMessage) => {
      const body = await readSmallBody(payload, { what: 'form', maxBytes: MAX_BYTES, withinMs });
      return fieldsOf(body.toString('utf8'));
    },
  );
}

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
