import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { CatalogModule, groupOfViewer } from '../../catalog/index.js';
import {
  isImportable,
  KEY_CONDITIONS,
  type KeyFilter,
  KeysModule,
  type OwnKey,
  OwnKeys,
  PAGE_KEYS,
} from '../../keys/index.js';
import { Clock, dayOf } from '../../platform/shared/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule, SignedIn } from '../access/index.js';
import { UsagePagesModule } from '../usage/index.js';
import { Cursors, CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { isRestricted, KeyForm, settingsOf } from './key-form.js';
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

type KeyListQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_TEXT = 100;
const MAX_SECRET = 512;
const LIST = 'keys';

@Controller('keys')
@SignedIn()
class KeysController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly choices: KeyChoices,
    private readonly cursors: Cursors,
    private readonly once: IdempotentForms,
    private readonly clock: Clock,
  ) {}

  @Get()
  async list(
    @CurrentVisitor() { accountId, timeZone }: Visitor,
    @Query() query: KeyListQuery,
  ): Promise<Page | Redirect> {
    const secret = textIn(query, 'q', MAX_SECRET);
    if (secret !== undefined && isImportable(secret)) return this.bySecret(accountId, secret);
    const filter = filterOf(query);
    const position = this.cursors.placeIn(LIST, query);
    const { keys, newer, older } = await this.keys.page(accountId, filter, position ?? {});
    const groups = await this.keys.groupsInUse(accountId);
    const now = this.clock.date();
    return new Page('keys/list', {
      title: 'API keys',
      data: {
        rows: keys.map((key) => rowOf(key, timeZone, now)),
        nothing: keys.length === 0 && isEmpty(filter),
        stale: position === undefined,
        text: filter.text ?? '',
        groups: options([['', 'All groups'], ...groups.map((name) => [name, name] as const)], filter.group),
        states: options(STATES, filter.condition),
        chips: chipsOf(filter),
        newer: newer ? this.pageAddress(filter, 'after', keys[0]) : undefined,
        older: older ? this.pageAddress(filter, 'before', keys.at(-1)) : undefined,
        pages: newer || older,
        shown: keys.length,
        perPage: PAGE_KEYS,
        ...ACTIONS,
      },
    });
  }

  @Get('new')
  newKey(@CurrentVisitor() visitor: Visitor): Page {
    return this.formPage(visitor, Form.empty<KeyForm>({ group: groupOfViewer(visitor) }));
  }

  /** Returns the secret in the response itself, so that no URL leads to it. Submitted again, it redirects to the key. */
  @Post('new')
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const { accountId, timeZone } = visitor;
    const form = Form.read(KeyForm, body);
    const now = this.clock.date();
    const result = await this.once.run(
      accountId,
      body,
      () =>
        form.attempt(async (value) =>
          this.keys.create(visitor, settingsOf(value, visitor, dayOf(now, timeZone), undefined)),
        ),
      ({ id }) => `/keys/${id}/edit`,
    );
    if (result === undefined) return this.formPage(visitor, form);
    if (result.made === undefined) return alreadyCreated(result.location);
    const { id, secret } = result.made;
    const key = await this.keys.get({ accountId, id });
    return createdPage(key, secret, this.choices, { timeZone, now });
  }

  private formPage(visitor: Visitor, form: Form<KeyForm>): Page {
    return new Page('keys/new', {
      title: 'Create key',
      width: 'narrow',
      data: {
        form,
        groups: this.choices.groups(visitor),
        groupsHint: this.choices.groupsHint(visitor),
        models: this.choices.models(visitor),
        defaults: defaultHints(this.choices.defaultLimits()),
        restricted: isRestricted(form),
        crumbs: crumbsTo('New'),
      },
    });
  }

  /** Redirects a search for a full key at once, so that the key stays neither on the page nor in the address bar. */
  private async bySecret(accountId: string, secret: string): Promise<Redirect> {
    const key = await this.keys.bySecret(accountId, secret);
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
});

/** Undefined if empty. Removes control characters, which the database rejects. */
function textIn(query: KeyListQuery, name: string, maxLength?: number): string | undefined {
  const value = query[name];
  const text = typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '').trim() : '';
  return text === '' ? undefined : text.slice(0, maxLength);
}

const isEmpty = ({ text, group, condition }: KeyFilter): boolean => (text ?? group ?? condition) === undefined;

const options = (pairs: readonly (readonly [string, string])[], chosen = '') =>
  pairs.map(([value, label]) => ({ value, label, selected: value === chosen }));

function addressOf({ text, group, condition }: KeyFilter, cursor: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ q: text, group, state: condition, ...cursor }))
    if (value !== undefined) search.set(name, value);
  return search.size === 0 ? '/keys' : `/keys?${search.toString()}`;
}

function chipsOf(filter: KeyFilter): readonly { label: string; value: string; href: string }[] {
  const { text, group, condition } = filter;
  const chips = [
    { label: 'Search', value: text, href: addressOf({ ...filter, text: undefined }) },
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
  controllers: [KeysController, KeyUseController, KeyController, LeakedKeyController],
  providers: [KeyChoices, KeyUsePages],
  exports: [KeyUsePages],
})
export class KeyPagesModule {}
