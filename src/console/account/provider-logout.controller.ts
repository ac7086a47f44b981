import { Body, Controller, HttpCode, Injectable, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProviderLogout, ProviderSessions, ProviderSignIn, SignInProviders, type Visit } from '../../auth/index.js';
import { addressOf, AppError, type ErrorKind } from '../../platform/shared/index.js';
import { type FormBody, Page, Redirect, VisitCookies } from '../web/index.js';

const SIGNED_OUT = { tone: 'ok', title: 'Signed out' } as const;

/** The provider that a session began with. */
interface ProviderExit {
  readonly label: string;
  /** Address that ends the session there; undefined: it has none, or cannot be reached. */
  readonly url: string | undefined;
}

/** Sign-out of the user, also at the provider that the session began with. */
@Injectable()
export class SignOut {
  constructor(
    private readonly sessions: ProviderSessions,
    private readonly signIn: ProviderSignIn,
    private readonly providers: SignInProviders,
    private readonly cookies: VisitCookies,
  ) {}

  /** Call before the session ends. Undefined: it began without a provider. */
  async begin({ visitor }: Visit): Promise<ProviderExit | undefined> {
    const session = visitor && (await this.sessions.of(visitor.sessionId));
    if (session === undefined) return undefined;
    const provider = (await this.providers.list()).find((one) => one.name === session.provider);
    return provider && { label: provider.label, url: await this.signIn.endSessionUrl(provider.name, session.idToken) };
  }

  /**
   * The page that leads to the provider, which then returns to the sign-in page. Not a redirect: the policy of pages
   * lets no form lead to another site.
   */
  finish(provider: ProviderExit | undefined, reply: FastifyReply): Page | Redirect {
    if (provider === undefined) return new Redirect('/sign-in', SIGNED_OUT);
    const { label, url } = provider;
    if (url === undefined)
      return new Redirect('/sign-in', { ...SIGNED_OUT, text: `You may still be signed in at ${label}.` });
    this.cookies.setFlash(reply, SIGNED_OUT);
    const data = { label, url };
    return new Page('auth/signing-out', { title: 'Signing out', layout: 'auth', continuesAt: url, data });
  }
}

/** `/sign-in/with/google/logout`: back-channel logout, called by the provider. No page, and no visit. */
@Controller('sign-in/with')
export class ProviderLogoutController {
  constructor(private readonly logout: ProviderLogout) {}

  /** Errors are JSON (OpenID Connect Back-Channel Logout 2.8). */
  @Post(':name/logout')
  @HttpCode(200)
  async end(
    @Param('name') name: string,
    @Body() body: FormBody | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    void reply.header('cache-control', 'no-store');
    const token = body?.['logout_token'];
    try {
      if (typeof token !== 'string') throw new AppError('invalid_request', 'The form has no "logout_token".');
      await this.logout.end(name, token, addressOf(request));
      return '';
    } catch (error) {
      const refusal = error instanceof AppError ? REFUSALS[error.kind] : undefined;
      if (refusal === undefined) throw error;
      const [status, text] = refusal;
      void reply.status(status);
      return { error: 'invalid_request', error_description: text };
    }
  }
}

/** Status and description. Other errors are those of this program. */
const REFUSALS: Readonly<Partial<Record<ErrorKind, readonly [number, string]>>> = {
  invalid_request: [400, 'The form has no logout_token.'],
  permission_denied: [400, 'The logout token is invalid or was used before.'],
  not_found: [404, 'There is no sign-in provider with this name.'],
  rate_limit_exceeded: [429, 'Too many invalid logout tokens. Try again later.'],
  unavailable: [503, 'The keys of the provider could not be fetched.'],
};
