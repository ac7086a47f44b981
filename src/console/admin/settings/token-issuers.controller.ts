import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { IsIn, IsString, Matches } from 'class-validator';
import { ConfirmedForm, RecentSignIn, type Visitor } from '../../../auth/index.js';
import {
  ACCOUNT_MATCHES,
  type AccountMatch,
  DEFAULT_ALGORITHMS,
  DEFAULT_LIFETIME_HOURS,
  type OrganizationChoice,
  TOKEN_ALGORITHMS,
  TOKEN_HOLDERS,
  type TokenHolder,
  type TokenIssuer,
  TokenIssuerChangedMeanwhile,
  type TokenIssuerIdentity,
  TokenIssuers,
  type TokenIssuerSettings,
} from '../../../keys/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import {
  CheckboxList,
  CurrentVisitor,
  type Difference,
  differencesBetween,
  Form,
  type FormBody,
  IsCount,
  Page,
  Redirect,
  typedCount,
  Trimmed,
} from '../../web/index.js';
import { comparable } from './section-form.js';
import { savedFlash, SETTINGS_PATH, settingsLinks, TOKEN_ISSUERS_PATH } from './settings.pages.js';

const INCOMPLETE = 'This form is incomplete. Reload the page and try again.';
const SINGLE = 'Enter a single value.';

/** What can be changed. */
class IssuerForm extends ConfirmedForm {
  /** Revision of the issuer that the form was opened with; empty: a new one. */
  @Matches(/^\d{0,9}$/, { message: INCOMPLETE })
  readonly revision: string = '';

  @Trimmed()
  @IsString({ message: SINGLE })
  readonly name: string = '';

  @Trimmed()
  @IsString({ message: SINGLE })
  readonly jwksUri: string = '';

  @CheckboxList()
  @IsString({ each: true, message: 'Select algorithms from the list.' })
  readonly algorithms: readonly string[] = [];

  /** One per line. */
  @IsString({ message: SINGLE })
  readonly requiredClaims: string = '';

  @IsCount({ message: 'Enter whole hours from 1 to 8,760.', min: 1, max: 8760 })
  readonly maxLifetimeHours: string = '';
}

class NewIssuerForm extends IssuerForm {
  @Trimmed()
  @IsString({ message: SINGLE })
  readonly issuer: string = '';

  @Trimmed()
  @IsString({ message: SINGLE })
  readonly audience: string = '';

  @IsIn(TOKEN_HOLDERS, { message: 'Choose what the subject is.' })
  readonly holder: TokenHolder = 'account';

  /** Ignored for services. */
  @IsIn(ACCOUNT_MATCHES, { message: 'Choose how users are found.' })
  readonly matchedBy: AccountMatch = 'identity';

  @Trimmed()
  @IsString({ message: SINGLE })
  readonly claim: string = '';

  /** ID of an organization, or that of one of its teams behind a slash; empty: none. */
  @IsString({ message: SINGLE })
  readonly organizationId: string = '';
}

const HOLDERS: readonly { readonly value: TokenHolder; readonly label: string }[] = [
  { value: 'account', label: 'A user' },
  { value: 'member', label: 'A member of an organization' },
  { value: 'service', label: 'A service of an organization' },
];
const MATCHES: readonly { readonly value: AccountMatch; readonly label: string }[] = [
  { value: 'identity', label: 'Linked sign-in' },
  { value: 'email', label: 'Verified email address' },
];
const LABELS = {
  name: 'Name',
  jwksUri: 'Key set',
  algorithms: 'Algorithms',
  requiredClaims: 'Required claims',
  maxLifetimeHours: 'Max lifetime',
};

/** A form of an issuer, shown again. */
interface SubmittedIssuer {
  readonly form: Form<IssuerForm>;
  /** Conflicting changes saved meanwhile. */
  readonly differences?: readonly Difference[];
}

/** `/admin/settings/token-issuers`: issuers whose JWTs are accepted as API keys. */
@Controller('admin/settings/token-issuers')
@Administrator()
export class TokenIssuersController {
  constructor(
    private readonly issuers: TokenIssuers,
    private readonly recent: RecentSignIn,
  ) {}

  @Get()
  async list(): Promise<Page> {
    const issuers = (await this.issuers.list()).map((issuer) => ({
      ...issuer,
      holder: labelIn(HOLDERS, issuer.holder),
    }));
    const data = { links: settingsLinks(TOKEN_ISSUERS_PATH), issuers };
    return new Page('admin/settings-token-issuers', { title: 'Token issuers', width: 'narrow', data });
  }

  @Get('new')
  add(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.newPage(
      visitor,
      Form.empty({
        algorithms: DEFAULT_ALGORITHMS,
        claim: 'sub',
        holder: 'account',
        matchedBy: 'identity',
        maxLifetimeHours: String(DEFAULT_LIFETIME_HOURS),
      }),
    );
  }

  @Post('new')
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(NewIssuerForm, body);
    const isAdded = await form.succeeds(async (value) => {
      await this.recent.confirm(visitor, value.password);
      await this.issuers.add({ ...settingsIn(value), ...identityIn(value) });
    });
    if (!isAdded) return this.newPage(visitor, form);
    return new Redirect(TOKEN_ISSUERS_PATH, { tone: 'ok', title: `${String(form.values['name'])} added` });
  }

  @Get(':id')
  show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.page(visitor, id);
  }

  @Post(':id')
  async save(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const form = Form.read(IssuerForm, body);
    try {
      const lines = await form.attempt(async (value) => {
        await this.recent.confirm(visitor, value.password);
        return this.issuers.change(id, settingsIn(value), Number(value.revision));
      });
      if (lines === undefined) return await this.page(visitor, id, { form });
      return new Redirect(`${TOKEN_ISSUERS_PATH}/${id}`, savedFlash('Issuer saved', lines));
    } catch (error) {
      if (!(error instanceof TokenIssuerChangedMeanwhile)) throw error;
      const now = valuesOf(await this.issuers.get(id));
      return this.page(visitor, id, { form, differences: differencesBetween(LABELS, now, form.values, comparable) });
    }
  }

  @Post(':id/delete')
  @RequiresRecentSignIn()
  async remove(@Param('id') id: string): Promise<Redirect> {
    const { name } = await this.issuers.remove(id);
    return new Redirect(TOKEN_ISSUERS_PATH, { tone: 'ok', title: `${name} deleted` });
  }

  private async newPage(visitor: Visitor, form: Form<NewIssuerForm>): Promise<Page> {
    const organizations = (await this.issuers.organizations()).map((choice) => ({
      value: pathOf(choice),
      label: labelOf(choice),
    }));
    return issuerPage('Add a token issuer', {
      form,
      holders: HOLDERS,
      matches: MATCHES,
      organizations: [{ value: '', label: 'None' }, ...organizations],
      confirm: this.recent.needed(visitor),
      action: `${TOKEN_ISSUERS_PATH}/new`,
    });
  }

  private async page(visitor: Visitor, id: string, shown?: SubmittedIssuer): Promise<Page> {
    const issuer = await this.issuers.get(id);
    const { form, differences } = shown ?? {};
    return issuerPage(
      issuer.name,
      {
        form: form ?? Form.empty<IssuerForm>(valuesOf(issuer)),
        differences,
        issuer: { id, name: issuer.name, facts: factsOf(issuer, await this.issuers.organizations()) },
        // The revision that the form was opened with, unless the current values are shown beside it.
        revision: form === undefined || differences ? issuer.revision : form.values['revision'],
        confirm: this.recent.needed(visitor),
        action: `${TOKEN_ISSUERS_PATH}/${id}`,
      },
      differences && 409,
    );
  }
}

function issuerPage(
  title: string,
  data: { readonly form: Form<IssuerForm> } & Readonly<Record<string, unknown>>,
  status?: number,
): Page {
  const crumbs = [
    { href: SETTINGS_PATH, label: 'Settings' },
    { href: TOKEN_ISSUERS_PATH, label: 'Token issuers' },
    { label: title },
  ];
  const algorithms = TOKEN_ALGORITHMS.map((value) => ({ value, label: value }));
  return new Page('admin/settings-token-issuer', {
    title,
    width: 'narrow',
    status,
    data: { ...data, algorithms, title, crumbs },
  });
}

const settingsIn = (form: IssuerForm): TokenIssuerSettings => ({
  name: form.name,
  jwksUri: form.jwksUri || undefined,
  algorithms: form.algorithms,
  requiredClaims: form.requiredClaims
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean),
  maxLifetimeHours: typedCount(form.maxLifetimeHours) ?? 0,
});

function identityIn({
  issuer,
  audience,
  holder,
  matchedBy,
  claim,
  organizationId: path,
}: NewIssuerForm): TokenIssuerIdentity {
  const [organizationId = '', teamId] = path.split('/');
  return {
    issuer,
    audience,
    holder,
    matchedBy: holder === 'service' ? undefined : matchedBy,
    claim,
    organizationId: organizationId || undefined,
    teamId,
  };
}

const valuesOf = ({ name, jwksUri, algorithms, requiredClaims, maxLifetimeHours }: TokenIssuer): FormBody => ({
  name,
  jwksUri: jwksUri ?? '',
  algorithms,
  requiredClaims: requiredClaims.join('\n'),
  maxLifetimeHours: String(maxLifetimeHours),
});

const pathOf = ({ organizationId, teamId }: Pick<OrganizationChoice, 'organizationId' | 'teamId'>): string =>
  teamId === null ? organizationId : `${organizationId}/${teamId}`;

const labelOf = ({ organization, team }: OrganizationChoice): string =>
  team === null ? organization : `${organization}, team ${team}`;

const labelIn = (options: readonly { readonly value: string; readonly label: string }[], value: string): string =>
  options.find((option) => option.value === value)?.label ?? value;

/** What cannot be changed. */
function factsOf(issuer: TokenIssuer, organizations: readonly OrganizationChoice[]) {
  const { organizationId = '', teamId = null, matchedBy } = issuer;
  const organization = organizations.find((choice) => pathOf(choice) === pathOf({ organizationId, teamId }));
  return [
    { label: 'Issuer', text: issuer.issuer },
    { label: 'Audience', text: issuer.audience },
    { label: 'Subject', text: `${labelIn(HOLDERS, issuer.holder)}, named by ${issuer.claim}` },
    ...(matchedBy === undefined ? [] : [{ label: 'User found by', text: labelIn(MATCHES, matchedBy) }]),
    ...(organizationId === ''
      ? []
      : [{ label: 'Organization', text: organization ? labelOf(organization) : 'Deleted' }]),
  ];
}
