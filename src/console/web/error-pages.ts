import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppError, Clock } from '../../platform/shared/index.js';
import { type KnownVisit, visitOf } from './current-visit.js';
import type { Detour } from './detour.js';
import { type Page, Redirect } from './page.js';
import { PageWriter } from './page-writer.js';
import { errorPage } from './rendering/error-page.js';

/** Renders errors as pages or redirects. */
@Injectable()
export class ErrorPages {
  constructor(
    private readonly writer: PageWriter,
    private readonly clock: Clock,
  ) {}

  /** @param status of the response */
  async answer(error: AppError, status: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const page = errorPage(error, status, request, this.clock.date());
    await reply.send(await this.inFrame(page, request, reply));
  }

  private async inFrame(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    try {
      return await this.writer.page(page, visitOf(request) ?? stranger(request), reply);
    } catch {
      // Loading the frame most likely fails for the same reason as the page: the database.
      return this.writer.page(page, stranger(request), reply);
    }
  }

  async detour({ to }: Detour, reply: FastifyReply): Promise<void> {
    await reply.send(this.writer.redirect(new Redirect(to), reply));
  }
}

/** Without a page guard, the visit is unknown. */
const stranger = ({ id, ip, url }: FastifyRequest): KnownVisit => ({
  visit: { visitor: undefined, csrf: '', theme: undefined, ip, userAgent: '', requestId: id, url },
  flash: undefined,
});
