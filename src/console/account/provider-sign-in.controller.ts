import { Controller, Get, Injectable, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  type Account,
  AccountSuspended,
  isIssuerOf,
  LinkedIdentities,
  Passkeys,
  PendingIdentities,
  type ProviderArrival,
  type ProviderAttempt,
  providerLink,
  ProviderSessions,
  ProviderSignIn,
  type ProvedIdentity,
  SecondFactors,
  SecurityLog,
  type SignInProvider,
  SignInProviders,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { IdentityAccounts, IdentityOwners } from '../../keys/onboarding/index.js';
import { AppError, type ErrorKind } from '../../platform/shared/index.js';
import { Public, RequiresRecentSignIn, SignedIn } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, FormOrigin, localPath, Page, Redirect, VisitCookies } from '../web/index.js';
import { ProviderConfirmation, ProviderTrial } from './provider-arrivals.js';
import { SignInSteps } from './sign-in-steps.js';

const LINK_PAGE = '/account/sign-in-methods/link';
const REGISTER_PAGE = '/register/provider';

/** Keeps an identity without an account until the user of the browser decides. */
@Injectable()
export class IdentityDecisions {
  constructor(
    private readonly pending: PendingIdentities,
    private readonly cookies: VisitCookies,
    private readonly forms: FormOrigin,
  ) {}

  /** The page where signed-in users confirm that the identity signs in to their account from now on. */
  async link(proved: ProvedIdentity, { csrf }: Visit): Promise<Redirect> {
    await this.pending.put(proved, csrf);
    return new Redirect(LINK_PAGE);
  }

  /** The page that creates an account. Assigns a new token, so that a planted token cannot continue. */
  async register(proved: ProvedIdentity, reply: FastifyReply): Promise<Redirect> {
    const token = this.cookies.newToken();
    await this.pending.put(proved, this.forms.tokenFor(token));
    this.cookies.setToken(reply, token);
    return new Redirect(REGISTER_PAGE);
  }
}

/** The step after a provider has identified the user: a session, or the page for a link or a new account. */
@Injectable()
export class ProviderSteps {
  constructor(
    private readonly owners: IdentityOwners,
    private readonly accounts: IdentityAccounts,
    private readonly decisions: IdentityDecisions,
    private readonly steps: SignInSteps,
    private readonly log: SecurityLog,
  ) {}

  /** @throws AppError with the reason why the user is not signed in */
  async after(proved: ProvedIdentity, visit: Visit, reply: FastifyReply): Promise<Redirect> {
    const linked = await this.owners.linked(proved.identity);
    if (visit.visitor !== undefined) return this.ofSignedIn(proved, linked, visit, visit.visitor);
    const account = linked ?? (await this.owners.adopt(proved));
    if (account !== undefined) return this.signIn(account, proved, visit, reply);
    await this.accounts.check(proved);
    return this.decisions.register(proved, reply);
  }

  private async ofSignedIn(
    proved: ProvedIdentity,
    linked: Account | undefined,
    visit: Visit,
    { accountId }: Visitor,
  ): Promise<Redirect> {
    if (linked === undefined) return this.decisions.link(proved, visit);
    const { label } = proved.provider;
    if (linked.id === accountId)
      return new Redirect(proved.next, { tone: 'ok', title: `${label} is already linked to your account` });
    throw new AppError('conflict', `This ${label} sign-in is linked to another account. Unlink it there first.`);
  }

  /** Two-factor authentication of the account applies, as after a password. */
  private async signIn(account: Account, proved: ProvedIdentity, visit: Visit, reply: FastifyReply): Promise<Redirect> {
    const { id: accountId, state } = account;
    if (state !== 'enabled') {
      this.log.refused('suspended', accountId, visit.ip);
      throw new AccountSuspended();
    }
    await this.accounts.assign(account, proved);
    const { next, providerSessionId } = proved;
    const signIn = { accountId, kept: false, next, providerSessionId };
    return new Redirect(await this.steps.afterFirstFactor(signIn, visit, reply));
  }
}

/** Errors shown where a sign-in begins: the callback cannot be repeated. */
const REFUSALS: readonly ErrorKind[] = ['permission_denied', 'invalid_request', 'conflict', 'unavailable'];

/** Receives browsers from a provider, each for the purpose that it was sent there for. */
@Injectable()
export class ProviderArrivals {
  constructor(
    private readonly provider: ProviderSignIn,
    private readonly sessions: ProviderSessions,
    private readonly steps: ProviderSteps,
    private readonly confirmation: ProviderConfirmation,
    private readonly trial: ProviderTrial,
  ) {}

  async receive(name: string, visit: Visit, reply: FastifyReply): Promise<Page | Redirect> {
    let attempt: ProviderAttempt | undefined;
    try {
      attempt = await this.provider.attempt(name, visit);
      return await this.after(await this.provider.finish(name, attempt, visit), visit, reply);
    } catch (error) {
      if (!(error instanceof AppError) || !REFUSALS.includes(error.kind)) throw error;
      const [to, title] = refusalPage(attempt, visit);
      return new Redirect(to, { tone: 'bad', title, text: error.message });
    }
  }

  private async after(arrival: ProviderArrival, visit: Visit, reply: FastifyReply): Promise<Page | Redirect> {
    switch (arrival.purpose) {
      case 'sign-in':
        return this.steps.after(await this.sessions.prove(arrival), visit, reply);
      case 'confirm':
        return this.confirmation.after(arrival, visit);
      case 'try':
        return this.trial.after(arrival, visit);
      default:
        return arrival.purpose satisfies never;
    }
  }
}

/** Where a refusal is shown, and its title. */
function refusalPage(attempt: ProviderAttempt | undefined, { visitor }: Visit): readonly [string, string] {
  if (attempt?.purpose === 'confirm') return [attempt.next, 'Not confirmed'];
  if (attempt?.purpose === 'try') return [attempt.next, 'Sign-in failed'];
  return visitor ? ['/account', 'Not linked'] : ['/sign-in', 'Not signed in'];
}

/** `/sign-in/with/google`: sign-in with OpenID Connect, and links to the account of a signed-in user. */
@Controller('sign-in/with')
@Public()
export class ProviderSignInController {
  constructor(
    private readonly provider: ProviderSignIn,
    private readonly arrivals: ProviderArrivals,
  ) {}

  /** Begins with a link, not a form: the policy of pages lets no form lead to another site. */
  @Get(':name')
  async begin(
    @Param('name') name: string,
    @Query('next') next: unknown,
    @CurrentVisit() visit: Visit,
  ): Promise<Redirect> {
    return new Redirect(await this.provider.begin(name, { purpose: 'sign-in', next: localPath(next) }, visit));
  }

  @Get(':name/callback')
  finish(
    @Param('name') name: string,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    return this.arrivals.receive(name, visit, reply);
  }
}

const EXPIRED = {
  tone: 'warn',
  title: 'Nothing to link',
  text: 'The sign-in expired or is already linked. Start again.',
} as const;

const CRUMBS = [{ href: '/account', label: 'Account' }, { label: 'Link a sign-in' }];

/** The ways to sign in to an account, for its page. */
@Injectable()
export class SignInMethodViews {
  constructor(
    private readonly factors: SecondFactors,
    private readonly identities: LinkedIdentities,
    private readonly providers: SignInProviders,
    private readonly passkeys: Passkeys,
  ) {}

  async of(accountId: string) {
    const providers = await this.providers.list();
    const linked = await this.identities.of(accountId);
    const isLinked = ({ issuer }: SignInProvider): boolean => linked.some((one) => isIssuerOf(issuer, one.issuer));
    return {
      secondFactor: await this.factors.of(accountId),
      passkeys: await this.passkeys.list(accountId),
      identities: await Promise.all(
        linked.map(async (one) => ({ ...one, label: await this.identities.labelOf(one.issuer) })),
      ),
      linkable: providers.filter((one) => !isLinked(one)).map((one) => providerLink(one, '/account')),
    };
  }
}

/** Sign-ins of providers that open the user's account. */
@Controller('account/sign-in-methods')
@SignedIn()
export class SignInMethodsController {
  constructor(
    private readonly pending: PendingIdentities,
    private readonly identities: LinkedIdentities,
  ) {}

  /** Asks before it links: another site can open the page that begins. */
  @Get('link')
  async show(@CurrentVisit() { csrf }: Visit): Promise<Page | Redirect> {
    const proved = await this.pending.of(csrf);
    if (proved === undefined) return new Redirect('/account', EXPIRED);
    const { provider, identity } = proved;
    const data = { label: provider.label, email: identity.email, name: identity.name, crumbs: CRUMBS };
    return new Page('account/sign-in-link', { title: 'Link a sign-in', width: 'narrow', data });
  }

  @Post('link')
  @RequiresRecentSignIn()
  async link(@CurrentVisit() { csrf }: Visit, @CurrentVisitor() { accountId }: Visitor): Promise<Redirect> {
    const proved = await this.pending.of(csrf);
    if (proved === undefined) return new Redirect('/account', EXPIRED);
    await this.identities.link(accountId, proved.identity);
    await this.pending.end(csrf);
    return new Redirect('/account', { tone: 'ok', title: `You can now sign in with ${proved.provider.label}` });
  }

  @Post(':id/unlink')
  @RequiresRecentSignIn()
  async unlink(@Param('id') id: string, @CurrentVisitor() { accountId }: Visitor): Promise<Redirect> {
    await this.identities.unlink(accountId, id);
    return new Redirect('/account', { tone: 'ok', title: 'Sign-in unlinked' });
  }
}
