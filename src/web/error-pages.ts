import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../shared/index.js';
import { visitOf } from './current-visit.js';
import { Detour } from './detour.js';
import { Page, Redirect } from './page.js';
import { PageWriter } from './page-writer.js';
import { errorPage } from './rendering/index.js';

/** Errors as people are told them: a page in the frame that they were in. */
@Injectable()
export class ErrorPages {
  constructor(private readonly writer: PageWriter) {}

  /** @param status what the page answers with */
  async answer(error: AppError, status: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const known = visitOf(request);
    const { view, options } = errorPage(error, status, request.id);
    await reply.send(await this.writer.page(new Page(view, { ...options, status }), known, reply));
  }

  /** Sends the browser where it must go first. */
  async detour({ to }: Detour, reply: FastifyReply): Promise<void> {
    await reply.send(this.writer.redirect(new Redirect(to), reply));
  }
}
