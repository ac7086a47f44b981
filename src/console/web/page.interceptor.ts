import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { concatMap, type Observable } from 'rxjs';
import { knownVisit } from './current-visit.js';
import { Page, Redirect } from './page.js';
import { PageWriter } from './page-writer.js';

/** Makes an answer of what a page's handler returns. Anything but a page or a redirect passes as it is. */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly writer: PageWriter) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const http = context.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const request = http.getRequest<FastifyRequest>();
    return next.handle().pipe(
      concatMap(async (result) => {
        if (result instanceof Redirect) return this.writer.redirect(result, reply);
        return result instanceof Page ? this.writer.page(result, knownVisit(request), reply) : result;
      }),
    );
  }
}
