import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import {
  ConfirmedForm,
  PROVIDER_KINDS,
  ProviderChangedMeanwhile,
  type ProviderKind,
  ProviderSignIn,
  RecentSignIn,
  type SignInProvider,
  SignInProviders,
  type TypedProvider,
  type Visitor,
} from '../../../auth/index.js';
import { Secret } from '../../../platform/shared/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import {
  CurrentVisitor,
  type Difference,
  differencesBetween,
  Form,
  type FormBody,
  Page,
  Redirect,
  Trimmed,
} from '../../web/index.js';
import { comparable } from './section-form.js';
import { PROVIDERS_PATH, savedFlash, SETTINGS_PATH, settingsLinks } from './settings.pages.js';

const INCOMPLETE = 'This form is incomplete. Reload the page and try again.';

class ProviderForm extends ConfirmedForm {
  /** Revision of the provider that the form was opened with; empty: a new one. */
  @Matches(/^\d{0,9}$/, { message: INCOMPLETE })
  readonly revision: string = '';

  /** Of a new one. */
  @IsIn(PROVIDER_KINDS, { message: 'Choose a type from the list.' })
  readonly kind: ProviderKind = 'openid';

  /** Of a new one. */
  @Trimmed()
  @IsString({ message: 'Enter a single value.' })
  readonly name: string = '';

  @Trimmed()
  @IsString({ message: 'Enter a single value.' })
  readonly label: string = '';

  @Trimmed()
  @IsString({ message: 'Enter a single value.' })
  readonly issuer: string = '';

  @Trimmed()
  @IsString({ message: 'Enter a single value.' })
  readonly clientId: string = '';

  @Trimmed()
  @IsString({ message: 'Enter a single value.' })
  readonly clientSecret: string = '';

  @IsOptional()
  readonly linksByEmail?: unknown;
}

const LABELS = { label: 'Name', issuer: 'Issuer', clientId: 'Client ID', linksByEmail: 'Link accounts by email' };

/** A form of a provider, shown again. */
interface SubmittedProvider {
  readonly form: Form<ProviderForm>;
  /** Conflicting changes saved meanwhile. */
  readonly differences?: readonly Difference[];
}

const KINDS: readonly { readonly value: ProviderKind; readonly label: string }[] = [
  { value: 'openid', label: 'OpenID Connect' },
  { value: 'github', label: 'GitHub' },
];

/** `/admin/settings/providers`: the providers that users sign in with. */
@Controller('admin/settings/providers')
@Administrator()
export class SignInProvidersController {
  constructor(
    private readonly providers: SignInProviders,
    private readonly signIn: ProviderSignIn,
    private readonly recent: RecentSignIn,
  ) {}

  @Get()
  async list(): Promise<Page> {
    const providers = (await this.providers.list()).map((one) => ({ ...one, kindLabel: kindLabel(one) }));
    const data = { links: settingsLinks(PROVIDERS_PATH), providers };
    return new Page('admin/settings-providers', { title: 'Sign-in providers', width: 'narrow', data });
  }

  @Get('new')
  add(@CurrentVisitor() visitor: Visitor): Page {
    return this.newPage(visitor, Form.empty());
  }

  @Post('new')
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(ProviderForm, body);
    const isAdded = await form.succeeds(async (value) => {
      await this.recent.confirm(visitor, value.password);
      await this.providers.add(typedIn(value, value.name));
    });
    if (!isAdded) return this.newPage(visitor, form);
    return new Redirect(PROVIDERS_PATH, { tone: 'ok', title: `${String(form.values['label'])} added` });
  }

  @Get(':name')
  show(@CurrentVisitor() visitor: Visitor, @Param('name') name: string): Promise<Page> {
    return this.page(visitor, name);
  }

  @Post(':name')
  async save(
    @CurrentVisitor() visitor: Visitor,
    @Param('name') name: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const form = Form.read(ProviderForm, body);
    try {
      const lines = await form.attempt(async (value) => {
        await this.recent.confirm(visitor, value.password);
        return this.providers.change(typedIn(value, name), Number(value.revision));
      });
      if (lines === undefined) return await this.page(visitor, name, { form });
      return new Redirect(`${PROVIDERS_PATH}/${name}`, savedFlash('Provider saved', lines));
    } catch (error) {
      if (!(error instanceof ProviderChangedMeanwhile)) throw error;
      const now = valuesOf(await this.providers.get(name));
      return this.page(visitor, name, { form, differences: differencesBetween(LABELS, now, form.values, comparable) });
    }
  }

  @Post(':name/delete')
  @RequiresRecentSignIn()
  async remove(@Param('name') name: string): Promise<Redirect> {
    const { label } = await this.providers.remove(name);
    return new Redirect(PROVIDERS_PATH, { tone: 'ok', title: `${label} deleted` });
  }

  private newPage(visitor: Visitor, form: Form<ProviderForm>): Page {
    const data = { form, ...this.urisOf('NAME'), confirm: this.recent.needed(visitor) };
    return providerPage('Add a sign-in provider', { ...data, kinds: KINDS, action: `${PROVIDERS_PATH}/new` });
  }

  /** To be registered at the provider. */
  private urisOf(name: string) {
    return {
      redirectUri: this.signIn.redirectUri(name),
      signedOutUri: this.signIn.signedOutUri(),
      logoutUri: this.signIn.logoutUri(name),
    };
  }

  private async page(visitor: Visitor, name: string, shown?: SubmittedProvider): Promise<Page> {
    const provider = await this.providers.get(name);
    const { form, differences } = shown ?? {};
    return providerPage(
      provider.label,
      {
        form: form ?? Form.empty<ProviderForm>(valuesOf(provider)),
        differences,
        provider,
        kindLabel: kindLabel(provider),
        // The revision that the form was opened with, unless the current values are shown beside it.
        revision: form === undefined || differences ? provider.revision : form.values['revision'],
        isUnreadable: !(await this.providers.hasReadableSecret(name)),
        ...this.urisOf(name),
        confirm: this.recent.needed(visitor),
        action: `${PROVIDERS_PATH}/${name}`,
      },
      differences && 409,
    );
  }
}

function providerPage(
  title: string,
  data: { readonly form: Form<ProviderForm> } & Readonly<Record<string, unknown>>,
  status?: number,
): Page {
  const crumbs = [
    { href: SETTINGS_PATH, label: 'Settings' },
    { href: PROVIDERS_PATH, label: 'Sign-in providers' },
    { label: title },
  ];
  return new Page('admin/settings-provider', { title, width: 'narrow', status, data: { ...data, title, crumbs } });
}

const kindLabel = ({ kind }: SignInProvider): string => KINDS.find(({ value }) => value === kind)?.label ?? kind;

const GITHUB = 'https://github.com';

const typedIn = (
  { kind, label, issuer, clientId, clientSecret, linksByEmail }: ProviderForm,
  name: string,
): TypedProvider => ({
  kind,
  name,
  label,
  issuer: kind === 'github' && issuer === '' ? GITHUB : issuer,
  clientId,
  clientSecret: new Secret(clientSecret),
  linksByEmail: linksByEmail === 'yes',
});

const valuesOf = ({ label, issuer, clientId, linksByEmail }: SignInProvider): FormBody => ({
  label,
  issuer,
  clientId,
  linksByEmail: linksByEmail ? 'yes' : '',
});
