import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Flash } from './page.js';
import type { Visit, Visitor } from '../../auth/index.js';

/** What the guard of pages knows of a request. */
export interface KnownVisit {
  readonly visit: Visit;
  /** The result of what this browser did last, not told yet. */
  readonly flash: Flash | undefined;
}

const known = new WeakMap<object, KnownVisit>();

export const rememberVisit = (request: FastifyRequest, visit: KnownVisit): void => void known.set(request.raw, visit);

/** Undefined where no guard of pages has been. */
export const visitOf = (request: FastifyRequest): KnownVisit | undefined => known.get(request.raw);

/** @throws Error where the guard was forgotten */
export function knownVisit(request: FastifyRequest): KnownVisit {
  const found = visitOf(request);
  if (found === undefined) throw new Error('A page handler must declare its access: @Public, @SignedIn, …');
  return found;
}

/** Of a request that the guard of pages has let in. @throws Error where the guard was forgotten */
export const visitIn = (request: FastifyRequest): Visit => knownVisit(request).visit;

const asked = (context: ExecutionContext): Visit => visitIn(context.switchToHttp().getRequest<FastifyRequest>());

/** Who asks: a parameter of type `Visit`. */
export const CurrentVisit = createParamDecorator((_: unknown, context: ExecutionContext): Visit => asked(context));

/** Injects the session user into handlers reserved to signed-in users. */
export const CurrentVisitor = createParamDecorator((_: unknown, context: ExecutionContext): Visitor => {
  const { visitor } = asked(context);
  if (visitor === undefined) throw new Error('A handler that uses the session user must be @SignedIn.');
  return visitor;
});
