import { Controller, Get, Injectable, Query } from '@nestjs/common';
import {
  distributedClaims,
  isIssuerOf,
  LinkedIdentities,
  listedClaims,
  type ProviderArrival,
  ProviderSignIn,
  type RuleResult,
  ruleResults,
  SessionService,
  type SignInProvider,
  SignInProviders,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { AppError } from '../../platform/shared/index.js';
import { SignedIn } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, localPath, Page, Redirect } from '../web/index.js';

/** Confirms a recent sign-in of users who sign in with a provider only: they authenticate there again. */
@Injectable()
export class ProviderConfirmation {
  constructor(
    private readonly identities: LinkedIdentities,
    private readonly sessions: SessionService,
  ) {}

  /** @throws AppError for an identity of someone else */
  async after({ provider, response, next }: ProviderArrival, { visitor }: Visit): Promise<Redirect> {
    const account = await this.identities.use(response.identity);
    if (visitor === undefined || account?.id !== visitor.accountId)
      throw new AppError('permission_denied', `You signed in at ${provider.label} as someone else.`);
    await this.sessions.confirm(visitor.sessionId);
    return new Redirect(next, {
      tone: 'ok',
      title: 'Sign-in confirmed',
      text: 'Submit the form again. You will not be asked again for 15 minutes.',
    });
  }
}

/** `/account/confirm`: to the provider of the user's account, and back to the page of a form. */
@Controller('account/confirm')
@SignedIn()
export class ConfirmSignInController {
  constructor(
    private readonly providers: SignInProviders,
    private readonly identities: LinkedIdentities,
    private readonly signIn: ProviderSignIn,
  ) {}

  /** A link, not a form: the policy of pages lets no form lead to another site. */
  @Get()
  async begin(
    @Query('with') name: unknown,
    @Query('next') next: unknown,
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() { accountId }: Visitor,
  ): Promise<Page | Redirect> {
    const linked = await this.linkedTo(accountId);
    const path = localPath(next);
    const chosen = linked.length === 1 ? linked[0] : linked.find((one) => one.name === name);
    if (chosen !== undefined)
      return new Redirect(await this.signIn.begin(chosen.name, { purpose: 'confirm', next: path }, visit));
    const providers = linked.map((one) => ({
      label: one.label,
      href: `/account/confirm?with=${one.name}&next=${encodeURIComponent(path)}`,
    }));
    const data = { providers, back: path };
    return new Page('account/confirm', { title: 'Confirm your sign-in', width: 'narrow', data });
  }

  private async linkedTo(accountId: string): Promise<readonly SignInProvider[]> {
    const identities = await this.identities.of(accountId);
    const providers = await this.providers.list();
    return providers.filter(({ issuer }) => identities.some((one) => isIssuerOf(issuer, one.issuer)));
  }
}

const RESULTS: Readonly<Record<RuleResult, { readonly label: string; readonly tone?: string }>> = {
  applies: { label: 'Applies', tone: 'ok' },
  overruled: { label: 'An earlier rule decides' },
  'no match': { label: 'No match' },
  unreadable: { label: 'Claim not sent', tone: 'warn' },
};

/** Shows administrators the claims of their own sign-in at a provider, and the rules that match. Changes nothing. */
@Injectable()
export class ProviderTrial {
  /** @throws AppError if the visitor is no longer an administrator */
  after({ provider, response, next }: ProviderArrival, { visitor }: Visit): Page {
    if (visitor?.isAdministrator !== true)
      throw new AppError('permission_denied', 'Only administrators can see the claims of a provider.');
    const { claims, identity } = response;
    const results = ruleResults(provider.rules, claims);
    const data = {
      title: `Claims of ${provider.label}`,
      crumbs: crumbsTo(provider, next),
      back: next,
      identity,
      claims: listedClaims(claims),
      distributed: distributedClaims(claims).join(', '),
      rules: provider.rules.map((rule, index) => ({ ...rule, result: RESULTS[results[index] ?? 'no match'] })),
    };
    return new Page('admin/settings-provider-trial', { title: data.title, width: 'narrow', hasSecret: true, data });
  }
}

const crumbsTo = ({ label }: SignInProvider, next: string) => [
  { href: '/admin/settings', label: 'Settings' },
  { href: '/admin/settings/providers', label: 'Sign-in providers' },
  { href: next, label: `${label}: claims` },
  { label: 'Try it' },
];
