import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import type { Visit, Visitor } from '../../auth/index.js';
import { Config } from '../../platform/config/index.js';
import type { Flash } from './page.js';
import { Signatures } from './signatures.js';

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

/** 256 random bits in base64url. */
const TOKEN = /^[\w-]{43}$/;
const FLASH_SECONDS = 60;
const YEAR_SECONDS = 365 * 24 * 3600;

/** What a browser's cookies say. */
interface VisitState {
  /** What this browser is known by; whether it is signed in, the sessions know. Undefined: its first visit. */
  readonly token: string | undefined;
  readonly theme: Visit['theme'];
  readonly flash: Flash | undefined;
}

/** The cookies of pages. `/v1` never looks at them. */
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

  /** A name for a browser that has none yet, or that must not be known by its old one any more. */
  newToken(): string {
    return randomBytes(32).toString('base64url');
  }

  /** @param maxAgeSeconds how long the browser keeps it; undefined: until it is closed */
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

  /** Browsers take a cookie of the prefixed name from this host alone, and only over TLS. */
  private name(name: string): string {
    return `${this.secure ? '__Host-' : ''}switchboard-${name}`;
  }
}
