import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import { allows, type Owner, ownIn, viewedKeys, type Visitor } from '../../auth/index.js';
import { CatalogModule, groupOfViewer } from '../../catalog/index.js';
import {
  type CreatedApiKey,
  isImportable,
  KEY_CONDITIONS,
  type KeyFilter,
  KeyHolders,
  KeysModule,
  type KeyTeam,
  type OwnKey,
  OwnKeys,
  PAGE_KEYS,
} from '../../keys/index.js';
import { AppError, Clock, dayOf } from '../../platform/shared/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule, Allows, NotAllowed, SignedIn } from '../access/index.js';
import { UsagePagesModule } from '../usage/index.js';
import { Cursors, CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { isRestricted, NewKeyForm, settingsOf } from './key-form.js';
import { KeyUseController, KeyUsePages } from './key-use.controller.js';
import { KeyController } from './key.controller.js';
import {
  alreadyCreated,
  badgeOf,
  CONDITION_BADGES,
  createdPage,
  crumbsTo,
  defaultHints,
  expiryView,
  limitsOf,
  paceText,
} from './key.view.js';
import { LeakedKeyController } from './leaked-key.controller.js';
import { SelectedKeysController } from './selected-keys.controller.js';

type KeyListQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_TEXT = 100;
const MAX_SECRET = 512;
const LIST = 'keys';

@Controller('keys')
@SignedIn()
@Allows('use keys')
class KeysController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly holders: KeyHolders,
    private readonly choices: KeyChoices,
    private readonly cursors: Cursors,
    private readonly once: IdempotentForms,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Allows('use keys', 'view all keys')
  async list(@CurrentVisitor() visitor: Visitor, @Query() query: KeyListQuery): Promise<Page | Redirect> {
    const { timeZone } = visitor;
    const owner = viewedKeys(visitor);
    const secret = textIn(query, 'q', MAX_SECRET);
    if (secret !== undefined && isImportable(secret)) return this.bySecret(owner, secret);
    const members = await this.membersOf(visitor);
    const filter = { ...filterOf(query), ...(members === undefined && { memberId: undefined }) };
    const position = this.cursors.placeIn(LIST, query);
    const { keys, newer, older } = await this.keys.page(owner, filter, position ?? {});
    const groups = await this.keys.groupsInUse(owner);
    const now = this.clock.date();
    const mayChange = allows(visitor.organization, 'use keys');
    return new Page('keys/list', {
      title: 'API keys',
      data: {
        rows: keys.map((key) => ({
          ...rowOf(key, timeZone, now),
          mayChange,
          selectable: mayChange && key.state !== 'deleted',
          hasHolder: members !== undefined,
        })),
        mayChange,
        hasHolders: members !== undefined,
        members: members && options([['', 'All members'], ...members], memberIn(filter)),
        nothing: keys.length === 0 && isEmpty(filter),
        stale: position === undefined,
        here: addressOf(filter),
        text: filter.text ?? '',
        groups: options([['', 'All groups'], ...groups.map((name) => [name, name] as const)], filter.group),
        states: options(STATES, filter.condition),
        chips: chipsOf(filter, members ?? []),
        newer: newer ? this.pageAddress(filter, 'after', keys[0]) : undefined,
        older: older ? this.pageAddress(filter, 'before', keys.at(-1)) : undefined,
        pages: newer || older,
        shown: keys.length,
        perPage: PAGE_KEYS,
        ...ACTIONS,
      },
    });
  }

  /** Choices of the member filter; undefined for readers who see no keys but their own. */
  private async membersOf({ organization }: Visitor): Promise<readonly MemberChoice[] | undefined> {
    if (organization === undefined || !allows(organization, 'view all keys')) return undefined;
    const members = await this.holders.members(organization.id);
    return [...members.map(({ id, name }): MemberChoice => [id, name]), [SERVICE, 'Service keys']];
  }

  @Get('new')
  newKey(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.formPage(visitor, Form.empty<NewKeyForm>({ group: groupOfViewer(visitor), holder: 'own' }));
  }

  /** Returns the secret in the response itself, so that no URL leads to it. Submitted again, it redirects to the key. */
  @Post('new')
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const { accountId, timeZone } = visitor;
    const form = Form.read(NewKeyForm, body);
    const now = this.clock.date();
    const result = await this.once.run(
      accountId,
      body,
      () => form.attempt((value) => this.createFor(visitor, value, dayOf(now, timeZone))),
      ({ id }) => `/keys/${id}/edit`,
    );
    if (result === undefined) return this.formPage(visitor, form);
    if (result.made === undefined) return alreadyCreated(result.location);
    const { id, secret } = result.made;
    const key = await this.keys.get({ accountId: visitor.scopeId, id });
    return createdPage(key, secret, this.choices, { timeZone, now });
  }

  /** A key of the user; for admins of an organization, possibly a service key. @throws NotAllowed */
  private async createFor(visitor: Visitor, form: NewKeyForm, today: string): Promise<CreatedApiKey> {
    const { organization, groupName, scopeId } = visitor;
    const settings = settingsOf(form, visitor, today, undefined);
    if (form.holder === 'own')
      return this.keys.create({ ...ownIn(visitor), groupName }, settings, organization?.teamId);
    if (organization === undefined) throw new AppError('invalid_request', 'Only organizations have service keys.');
    if (!allows(organization, 'manage all keys')) throw new NotAllowed(organization);
    return this.keys.create({ accountId: scopeId, groupName }, settings, form.team || undefined);
  }

  private async formPage(visitor: Visitor, form: Form<NewKeyForm>): Promise<Page> {
    const { organization } = visitor;
    const holdsAny = organization !== undefined && allows(organization, 'manage all keys');
    const teams = holdsAny ? await this.holders.teams(organization.id) : [];
    // A service key can have another team, which is checked when the form is sent.
    const team =
      organization === undefined || holdsAny
        ? undefined
        : await this.holders.team(organization.id, organization.teamId);
    return new Page('keys/new', {
      title: 'Create key',
      width: 'narrow',
      data: {
        form,
        holders: holdsAny && HOLDER_CHOICES,
        teams: teams.length > 0 && [{ value: '', label: 'No team' }, ...teams.map(teamChoice)],
        groups: this.choices.groups(visitor, team),
        groupsHint: this.choices.groupsHint(visitor, team),
        models: this.choices.models(visitor, team),
        defaults: defaultHints(this.choices.defaultLimits()),
        restricted: isRestricted(form),
        crumbs: crumbsTo('New'),
      },
    });
  }

  /** Redirects a search for a full key at once, so that the key stays neither on the page nor in the address bar. */
  private async bySecret(owner: Owner, secret: string): Promise<Redirect> {
    const key = await this.keys.bySecret(owner, secret);
    if (key !== undefined)
      return new Redirect(addressOf({ text: key.hint, condition: key.state === 'deleted' ? 'deleted' : undefined }));
    return new Redirect('/keys', {
      tone: 'warn',
      title: 'The pasted key is not one of yours',
      text: 'It may belong to another account or be incomplete.',
    });
  }

  private pageAddress(filter: KeyFilter, side: 'before' | 'after', key: OwnKey | undefined): string | undefined {
    return key && addressOf(filter, { [side]: this.cursors.seal(LIST, { id: key.id }) });
  }
}

const SERVICE = 'service';

type MemberChoice = readonly [id: string, name: string];

const HOLDER_CHOICES = [
  { value: 'own', label: 'Me' },
  { value: 'service', label: 'The organization (service key)' },
];

const teamChoice = ({ id, name }: KeyTeam) => ({ value: id, label: name });

const ACTIONS = {
  firstKey: { href: '/keys/new', label: 'Create key', icon: 'plus' },
  models: { href: '/pricing', label: 'Browse models' },
  all: { href: '/keys', label: 'Clear filters' },
};

const STATES: readonly (readonly [string, string])[] = [
  ['', 'All except deleted'],
  ...Object.entries(CONDITION_BADGES).map(([value, { label }]) => [value, label] as const),
];

const filterOf = (query: KeyListQuery): KeyFilter => ({
  text: textIn(query, 'q', MAX_TEXT),
  group: textIn(query, 'group', MAX_TEXT),
  condition: KEY_CONDITIONS.find((condition) => condition === textIn(query, 'state')),
  ...memberFilter(textIn(query, 'member', MAX_TEXT)),
});

const memberFilter = (text: string | undefined): Pick<KeyFilter, 'memberId'> =>
  text === undefined ? {} : { memberId: text === SERVICE ? null : text };

/** As in URLs. */
const memberIn = ({ memberId }: KeyFilter): string | undefined => (memberId === null ? SERVICE : memberId);

/** Undefined if empty. Removes control characters, which the database rejects. */
function textIn(query: KeyListQuery, name: string, maxLength?: number): string | undefined {
  const value = query[name];
  const text = typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '').trim() : '';
  return text === '' ? undefined : text.slice(0, maxLength);
}

const isEmpty = ({ text, group, condition, memberId }: KeyFilter): boolean =>
  (text ?? group ?? condition) === undefined && memberId === undefined;

const options = (pairs: readonly (readonly [string, string])[], chosen = '') =>
  pairs.map(([value, label]) => ({ value, label, selected: value === chosen }));

function addressOf(filter: KeyFilter, cursor: Readonly<Record<string, string>> = {}): string {
  const { text, group, condition } = filter;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ q: text, group, state: condition, member: memberIn(filter), ...cursor }))
    if (value !== undefined) search.set(name, value);
  return search.size === 0 ? '/keys' : `/keys?${search.toString()}`;
}

function chipsOf(
  filter: KeyFilter,
  members: readonly MemberChoice[],
): readonly { label: string; value: string; href: string }[] {
  const { text, group, condition } = filter;
  const member = memberIn(filter);
  const chips = [
    { label: 'Search', value: text, href: addressOf({ ...filter, text: undefined }) },
    {
      label: 'Member',
      value: members.find(([id]) => id === member)?.[1] ?? member,
      href: addressOf({ ...filter, memberId: undefined }),
    },
    { label: 'Group', value: group, href: addressOf({ ...filter, group: undefined }) },
    {
      label: 'State',
      value: condition && CONDITION_BADGES[condition].label,
      href: addressOf({ ...filter, condition: undefined }),
    },
  ];
  return chips.flatMap(({ value, ...chip }) => (value === undefined ? [] : [{ ...chip, value }]));
}

const rowOf = (key: OwnKey, timeZone: string, now: Date) => ({
  id: key.id,
  name: key.name,
  hint: key.hint,
  isTokenKey: key.isTokenKey,
  group: key.group,
  holder: key.member || 'Service key',
  used: key.used,
  limits: limitsOf(key),
  pace: paceText(key),
  lastUsedAt: key.lastUsedAt,
  expiry: expiryView(key.expiresAt, timeZone, now),
  badge: badgeOf(key),
  deleted: key.state === 'deleted',
});

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, UsagePagesModule, WalletModule],
  controllers: [KeysController, SelectedKeysController, KeyUseController, KeyController, LeakedKeyController],
  providers: [KeyChoices, KeyUsePages],
  exports: [KeyUsePages],
})
export class KeyPagesModule {}
