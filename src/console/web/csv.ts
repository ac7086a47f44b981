import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';

/** Answers with CSV, as slowly as it is taken; whoever leaves ends it. @param name of the file, without its ending */
export function sendCsv(reply: FastifyReply, name: string, lines: AsyncGenerator<string, void, void>): void {
  void reply
    .headers({ 'cache-control': 'no-store', 'content-disposition': `attachment; filename="${name}.csv"` })
    .type('text/csv; charset=utf-8')
    .send(Readable.from(lines));
}
