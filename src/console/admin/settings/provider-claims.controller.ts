import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, IsString, Matches } from 'class-validator';
import {
  type ClaimRule,
  ConfirmedForm,
  MAPPED_ROLES,
  ProviderChangedMeanwhile,
  ProviderSignIn,
  RecentSignIn,
  type SignInProvider,
  SignInProviders,
  type Visit,
  type Visitor,
} from '../../../auth/index.js';
import { ClaimAssignments, type MappingTargets } from '../../../keys/onboarding/index.js';
import { Administrator } from '../../access/index.js';
import {
  CurrentVisit,
  CurrentVisitor,
  type FieldValue,
  Form,
  type FormBody,
  Page,
  Redirect,
  Trimmed,
} from '../../web/index.js';
import { PROVIDERS_PATH, savedFlash, SETTINGS_PATH } from './settings.pages.js';

const INCOMPLETE = 'This form is incomplete. Reload the page and try again.';

const listOf = (value: FieldValue): readonly string[] => (value === undefined ? [] : [value].flat());

/** A repeated field. */
const Listed = (): PropertyDecorator => Transform(({ value }: { value: FieldValue }) => listOf(value));

class ClaimsForm extends ConfirmedForm {
  @Matches(/^\d{1,9}$/, { message: INCOMPLETE })
  readonly revision: string = '';

  @Trimmed()
  @IsString({ message: 'Enter a single value.' })
  readonly scopes: string = '';

  // The fields of each rule, by row.

  @Listed()
  @IsString({ each: true, message: INCOMPLETE })
  readonly claim: readonly string[] = [];

  @Listed()
  @IsString({ each: true, message: INCOMPLETE })
  readonly value: readonly string[] = [];

  /** `administrator`, `group:saver`, `organization:<id>`, `team:<organization>:<id>`. */
  @Listed()
  @IsString({ each: true, message: INCOMPLETE })
  readonly assigns: readonly string[] = [];

  /** In an organization. */
  @Listed()
  @Matches(new RegExp(`^(?:|${MAPPED_ROLES.join('|')})$`), { each: true, message: INCOMPLETE })
  readonly role: readonly string[] = [];

  /** Holds the error of a rule; never submitted. */
  @IsOptional()
  readonly rules?: undefined = undefined;
}

/** Names of the fields of a rule. */
const FIELDS = ['claim', 'value', 'assigns', 'role'] as const;
type RuleRow = Readonly<Record<(typeof FIELDS)[number], string>>;

const EMPTY_ROW: RuleRow = { claim: '', value: '', assigns: '', role: '' };
const DEFAULT_ROLE = 'member';

/** `/admin/settings/providers/acme/claims`: what the claims of a provider assign. */
@Controller('admin/settings/providers/:name')
@Administrator()
export class ProviderClaimsController {
  constructor(
    private readonly providers: SignInProviders,
    private readonly assignments: ClaimAssignments,
    private readonly signIn: ProviderSignIn,
    private readonly recent: RecentSignIn,
  ) {}

  @Get('claims')
  async show(@CurrentVisitor() visitor: Visitor, @Param('name') name: string): Promise<Page> {
    const provider = await this.providers.get(name);
    return this.page(visitor, provider, Form.empty(valuesOf(provider)));
  }

  /** Saves, or adds or removes a row. */
  @Post('claims')
  async save(
    @CurrentVisitor() visitor: Visitor,
    @Param('name') name: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const provider = await this.providers.get(name);
    const changed = withChangedRows(body);
    if (changed !== undefined) return this.page(visitor, provider, Form.empty(changed), 'row');
    const form = Form.read(ClaimsForm, body);
    try {
      const lines = await form.attempt(async (value) => {
        await this.recent.confirm(visitor, value.password);
        const rules = await this.assignments.labelled(rulesIn(value));
        return this.providers.changeClaims(name, { scopes: value.scopes, rules }, Number(value.revision));
      });
      if (lines === undefined) return await this.page(visitor, provider, form);
      return new Redirect(claimsPath(name), savedFlash('Rules saved', lines));
    } catch (error) {
      if (!(error instanceof ProviderChangedMeanwhile)) throw error;
      const now = await this.providers.get(name);
      return this.page(visitor, now, Form.empty({ ...form.values, revision: String(now.revision) }), 'changed');
    }
  }

  /** A link, not a form: the policy of pages lets no form lead to another site. */
  @Get('try')
  async try(@Param('name') name: string, @CurrentVisit() visit: Visit): Promise<Redirect> {
    return new Redirect(await this.signIn.begin(name, { purpose: 'try', next: claimsPath(name) }, visit));
  }

  /** @param state `row`: a row was added or removed; `changed`: the provider was saved meanwhile */
  private async page(
    visitor: Visitor,
    provider: SignInProvider,
    form: Form<ClaimsForm>,
    state?: 'row' | 'changed',
  ): Promise<Page> {
    const { name, label } = provider;
    const title = `${label}: claims`;
    const targets = targetGroups(await this.assignments.targets());
    const rows = rowsIn(form.values);
    const data = {
      form,
      title,
      crumbs: crumbsOf(provider),
      rows: (rows.length > 0 ? rows : [EMPTY_ROW]).map((row, index) => ({ ...row, number: index + 1 })),
      targets,
      roles: MAPPED_ROLES.map((role) => ({ value: role, label: role })),
      focus: state,
      isUnchanged: state === undefined,
      isChanged: state === 'changed',
      saved: provider.rules,
      action: claimsPath(name),
      tryPath: `${PROVIDERS_PATH}/${name}/try`,
      confirm: this.recent.needed(visitor),
    };
    const status = state === 'changed' ? 409 : undefined;
    return new Page('admin/settings-provider-claims', { title, width: 'narrow', status, data });
  }
}

const claimsPath = (name: string): string => `${PROVIDERS_PATH}/${name}/claims`;

const crumbsOf = ({ name, label }: SignInProvider) => [
  { href: SETTINGS_PATH, label: 'Settings' },
  { href: PROVIDERS_PATH, label: 'Sign-in providers' },
  { href: `${PROVIDERS_PATH}/${name}`, label },
  { label: 'Claims' },
];

/** The options of what a rule assigns, in groups. */
const targetGroups = ({ groups, organizations }: MappingTargets) =>
  [
    { label: 'Role', options: [{ value: 'administrator', label: 'Administrator' }] },
    { label: 'Group', options: groups.map((name) => ({ value: `group:${name}`, label: `Group ${name}` })) },
    {
      label: 'Organization',
      options: organizations.map(({ id, name }) => ({ value: `organization:${id}`, label: `Organization ${name}` })),
    },
    {
      label: 'Team',
      options: organizations.flatMap(({ id, name, teams }) =>
        teams.map((team) => ({ value: `team:${id}:${team.id}`, label: `Team ${team.name} of ${name}` })),
      ),
    },
  ].filter(({ options }) => options.length > 0);

/** Rows as typed. */
function rowsIn(values: FormBody): readonly RuleRow[] {
  const lists = FIELDS.map((field) => listOf(values[field]));
  const count = Math.max(...lists.map((list) => list.length));
  return Array.from(
    { length: count },
    (_, row) => Object.fromEntries(FIELDS.map((field, index) => [field, lists[index]?.[row] ?? ''])) as RuleRow,
  );
}

const valuesOfRows = (rows: readonly RuleRow[]): FormBody =>
  Object.fromEntries(FIELDS.map((field) => [field, rows.map((row) => row[field])]));

/** The form with a row more or less; undefined: it is to be saved. */
function withChangedRows({ _act: act, password: _password, ...body }: FormBody): FormBody | undefined {
  if (typeof act !== 'string') return undefined;
  const rows = rowsIn(body);
  const removed = Number(/^remove:(\d+)$/.exec(act)?.[1] ?? Number.NaN);
  return { ...body, ...valuesOfRows(act === 'row' ? [...rows, EMPTY_ROW] : rows.filter((__, i) => i !== removed - 1)) };
}

/** Empty rows are left out. */
const rulesIn = (form: ClaimsForm): readonly Omit<ClaimRule, 'label'>[] =>
  rowsIn({ claim: form.claim, value: form.value, assigns: form.assigns, role: form.role })
    .filter(({ claim, value, assigns }) => claim.trim() !== '' || value.trim() !== '' || assigns !== '')
    .map(({ claim, value, assigns, role }) => ({
      claim: claim.trim(),
      value: value.trim(),
      ...targetIn(assigns, role),
    }));

type Target = Pick<ClaimRule, 'target' | 'id' | 'detail'>;

/** What an option stands for; group names may contain colons. Unknown ones name no group. */
function targetIn(assigns: string, role: string): Target {
  if (assigns === 'administrator') return { target: 'administrator', id: '', detail: '' };
  const [kind, id = '', team = ''] = assigns.split(':');
  if (kind === 'organization') return { target: 'organization', id, detail: role || DEFAULT_ROLE };
  if (kind === 'team') return { target: 'team', id, detail: team };
  return { target: 'group', id: assigns.replace(/^group:/, ''), detail: '' };
}

function valuesOf({ revision, scopes, rules }: SignInProvider): FormBody {
  const rows = rules.map(({ claim, value, ...rule }) => ({ claim, value, ...optionOf(rule) }));
  return { revision: String(revision), scopes, ...valuesOfRows(rows) };
}

function optionOf({ target, id, detail }: Target): Pick<RuleRow, 'assigns' | 'role'> {
  switch (target) {
    case 'administrator':
      return { assigns: 'administrator', role: '' };
    case 'group':
      return { assigns: `group:${id}`, role: '' };
    case 'organization':
      return { assigns: `organization:${id}`, role: detail };
    case 'team':
      return { assigns: `team:${id}:${detail}`, role: '' };
    default:
      return target satisfies never;
  }
}
