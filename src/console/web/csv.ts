import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';

/** Streams CSV with back-pressure; stops when the client disconnects. @param name file name without extension */
export function sendCsv(reply: FastifyReply, name: string, lines: AsyncGenerator<string, void, void>): void {
  void reply
    .headers({ 'cache-control': 'no-store', 'content-disposition': `attachment; filename="${name}.csv"` })
    .type('text/csv; charset=utf-8')
    .send(Readable.from(lines));
}
