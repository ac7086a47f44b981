import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import type { Visit, Visitor } from '../../auth/index.js';
import { Config } from '../../platform/config/index.js';
import type { Flash } from './page.js';
import { Signatures } from './signatures.js';

export interface KnownVisit {
  readonly visit: Visit;
  /** Result of the previous action, to show once. */
  readonly flash: Flash | undefined;
}

const known = new WeakMap<object, KnownVisit>();

export const rememberVisit = (request: FastifyRequest, visit: KnownVisit): void => void known.set(request.raw, visit);

/** Undefined if no page guard ran. */
export const visitOf = (request: FastifyRequest): KnownVisit | undefined => known.get(request.raw);

/** @throws Error if the handler has no page guard */
export function knownVisit(request: FastifyRequest): KnownVisit {
  const found = visitOf(request);
  if (found === undefined) throw new Error('A page handler must declare its access: @Public, @SignedIn, …');
  return found;
}

/** @throws Error if the handler has no page guard */
export const visitIn = (request: FastifyRequest): Visit => knownVisit(request).visit;

const visitOfContext = (context: ExecutionContext): Visit =>
  visitIn(context.switchToHttp().getRequest<FastifyRequest>());

export const CurrentVisit = createParamDecorator((_: unknown, context: ExecutionContext): Visit =>
  visitOfContext(context),
);

/** Injects the session user into handlers reserved to signed-in users. */
export const CurrentVisitor = createParamDecorator((_: unknown, context: ExecutionContext): Visitor => {
  const { visitor } = visitOfContext(context);
  if (visitor === undefined) throw new Error('A handler that uses the session user must be @SignedIn.');
  return visitor;
});

/** 256 random bits in base64url. */
const TOKEN = /^[\w-]{43}$/;
const FLASH_SECONDS = 60;
const YEAR_SECONDS = 365 * 24 * 3600;

interface VisitState {
  /** Identifies the browser, signed in or not; undefined on its first visit. */
  readonly token: string | undefined;
  readonly theme: Visit['theme'];
  readonly flash: Flash | undefined;
}

/** Cookies of pages; `/v1` ignores them. */
@Injectable()
export class VisitCookies {
  private readonly secure: boolean;

  constructor(
    config: Config,
    private readonly signatures: Signatures,
  ) {
    this.secure = config.publicUrl?.startsWith('https:') === true;
  }

  read(header: string | undefined): VisitState {
    const cookies = parseCookie(header ?? '');
    const token = cookies[this.name('visit')];
    const theme = cookies[this.name('theme')];
    return {
      token: token !== undefined && TOKEN.test(token) ? token : undefined,
      theme: theme === 'light' || theme === 'dark' ? theme : undefined,
      flash: this.signatures.open('flash', cookies[this.name('flash')] ?? '') as Flash | undefined,
    };
  }

  newToken(): string {
    return randomBytes(32).toString('base64url');
  }

  /** @param maxAgeSeconds default: until the browser is closed */
  setToken(reply: FastifyReply, token: string, maxAgeSeconds?: number): void {
    this.set(reply, 'visit', token, maxAgeSeconds);
  }

  clearToken(reply: FastifyReply): void {
    this.set(reply, 'visit', '', 0);
  }

  setTheme(reply: FastifyReply, theme: Visit['theme']): void {
    this.set(reply, 'theme', theme ?? '', theme === undefined ? 0 : YEAR_SECONDS);
  }

  setFlash(reply: FastifyReply, flash: Flash): void {
    this.set(reply, 'flash', this.signatures.seal('flash', flash), FLASH_SECONDS);
  }

  clearFlash(reply: FastifyReply): void {
    this.set(reply, 'flash', '', 0);
  }

  private set(reply: FastifyReply, name: string, value: string, maxAge?: number): void {
    const cookie: SetCookie = {
      name: this.name(name),
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.secure,
    };
    void reply.header('set-cookie', stringifySetCookie(maxAge === undefined ? cookie : { ...cookie, maxAge }));
  }

  /** Browsers accept `__Host-` cookies only from this host over TLS. */
  private name(name: string): string {
    return `${this.secure ? '__Host-' : ''}switchboard-${name}`;
  }
}
