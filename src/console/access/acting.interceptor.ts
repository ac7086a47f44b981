import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Observable } from 'rxjs';
import { actingAs } from '../../platform/audit/index.js';
import { visitIn } from '../web/index.js';

/** What a handler of the operators' pages changes is changed in the name of whoever visits. */
@Injectable()
export class ActingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const { visitor, ip } = visitIn(context.switchToHttp().getRequest<FastifyRequest>());
    if (visitor === undefined) throw new Error('Administrators must be signed in.');
    const actor = { kind: 'account', accountId: visitor.accountId, name: visitor.email, ip } as const;
    return new Observable((subscriber) => actingAs(actor, () => next.handle().subscribe(subscriber)));
  }
}
