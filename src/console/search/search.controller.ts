import { Controller, Get, Injectable, Module, Query } from '@nestjs/common';
import { allows, type Owner, viewedCalls, viewedKeys, type Visitor } from '../../auth/index.js';
import { CatalogModule, Offer } from '../../catalog/index.js';
import { KeysModule, OwnKeys } from '../../keys/index.js';
import { AdapterRegistry, RelayModule } from '../../relay/index.js';
import { CallLookup, CallNotFound, type Query as Sql, TimeLimitedReads, UsageModule } from '../../usage/index.js';
import { AccessModule, SignedIn } from '../access/index.js';
import { addressOfTopic, modelAddress, protocolEndpoints, topicsFor } from '../home/index.js';
import { containing } from '../usage/index.js';
import { CurrentVisitor, navigationPages, Page, Redirect } from '../web/index.js';

interface Hit {
  readonly href: string;
  readonly title: string;
  /** Beside the title. */
  readonly text?: string;
}

interface HitGroup {
  readonly title: string;
  readonly hits: readonly Hit[];
}

/** Longer texts are cut. */
const MAX_TEXT = 100;
const MAX_HITS = 6;
const REQUEST_ID = /^req_[0-9a-f]{32}$/;
const SECRET = /^sk-\S{20,}/;
const IS_SECRET = {
  tone: 'warn',
  title: 'API keys cannot be searched for',
  text: 'Search for the name, or the first or last characters of the key.',
} as const;

const NEW_KEY: Hit = { href: '/keys/new', title: 'Create key' };
const OWN_PAGES: readonly Hit[] = [
  { href: '/organizations', title: 'Organizations' },
  { href: '/account/alerts', title: 'Alerts' },
  { href: '/account/password', title: 'Change password' },
  { href: '/account/second-factor', title: 'Two-factor authentication' },
  { href: '/account/close', title: 'Close account' },
];
const ADMIN_PAGES: readonly Hit[] = [
  { href: '/admin/routing', title: 'Routing dry run' },
  { href: '/admin/payments', title: 'Payment problems' },
  { href: '/admin/channels/new', title: 'Add channel' },
  { href: '/admin/models/add', title: 'Add models' },
  { href: '/admin/models/new', title: 'Add model manually' },
  { href: '/admin/users/new', title: 'Create user' },
  { href: '/admin/organizations/new', title: 'Create organization' },
  { href: '/admin/users/invitations', title: 'Invitations' },
  { href: '/admin/codes/new', title: 'New redemption codes' },
];

const USERS = `
  SELECT id, email, name FROM accounts
   WHERE state <> 'deleted' AND kind = 'person' AND (email ILIKE $1 OR name ILIKE $1 OR id ILIKE $1) ORDER BY id DESC LIMIT $2`;

const ORGANIZATIONS = `
  SELECT id, name FROM accounts
   WHERE state <> 'deleted' AND kind = 'organization' AND (name ILIKE $1 OR id ILIKE $1) ORDER BY id DESC LIMIT $2`;

/** Finds what a user may open. */
@Injectable()
class ConsoleSearch {
  constructor(
    private readonly keys: OwnKeys,
    private readonly offer: Offer,
    private readonly adapters: AdapterRegistry,
    private readonly calls: CallLookup,
    private readonly reads: TimeLimitedReads,
  ) {}

  /** Groups with hits. Without a text, the pages of the navigation. */
  async find(visitor: Visitor, text: string): Promise<readonly HitGroup[]> {
    if (text === '') return [{ title: 'Pages', hits: navigationOf(visitor) }];
    const groups = [
      { title: 'Calls', hits: await this.callsOf(visitor, text) },
      { title: 'Pages', hits: matching(pagesOf(visitor), text) },
      { title: 'API keys', hits: await this.keysOf(visitor, text) },
      { title: 'Models', hits: matching(this.modelsOf(visitor), text) },
      { title: 'Users', hits: visitor.isAdministrator ? await this.users(text) : [] },
      { title: 'Organizations', hits: visitor.isAdministrator ? await this.organizations(text) : [] },
      { title: 'Docs', hits: matching(this.topics(), text) },
    ];
    return groups.filter(({ hits }) => hits.length > 0);
  }

  private async callsOf(visitor: Visitor, id: string): Promise<readonly Hit[]> {
    if (!REQUEST_ID.test(id)) return [];
    const own = await this.callIn('/usage-logs/common', id, viewedCalls(visitor));
    return own.length > 0 || !visitor.isAdministrator ? own : this.callIn('/admin/calls', id, undefined);
  }

  private async callIn(log: string, id: string, owner: Owner | undefined): Promise<readonly Hit[]> {
    try {
      const { model } = await this.calls.find(owner, id);
      return [{ href: `${log}/${id}`, title: id, text: model }];
    } catch (error) {
      if (error instanceof CallNotFound) return [];
      throw error;
    }
  }

  private async keysOf(visitor: Visitor, text: string): Promise<readonly Hit[]> {
    const { organization } = visitor;
    if (!allows(organization, 'use keys') && !allows(organization, 'view all keys')) return [];
    const { keys } = await this.keys.page(viewedKeys(visitor), { text });
    return keys.slice(0, MAX_HITS).map(({ id, name, hint }) => ({ href: `/keys/${id}`, title: name, text: hint }));
  }

  private modelsOf(visitor: Visitor): readonly Hit[] {
    const names = this.offer
      .groupsFor(visitor)
      .flatMap(({ name }) => this.offer.modelsOf(name).map(({ model }) => model.name));
    return [...new Set(names)].map((name) => ({ href: modelAddress(name), title: name }));
  }

  private async users(text: string): Promise<readonly Hit[]> {
    const rows = await this.reads.read((query: Sql) =>
      query<{ id: string; email: string; name: string }>(USERS, [containing(text), MAX_HITS]),
    );
    return rows.map(({ id, email, name }) => ({ href: `/admin/users/${id}`, title: email, text: name }));
  }

  private async organizations(text: string): Promise<readonly Hit[]> {
    const rows = await this.reads.read((query: Sql) =>
      query<{ id: string; name: string }>(ORGANIZATIONS, [containing(text), MAX_HITS]),
    );
    return rows.map(({ id, name }) => ({ href: `/admin/organizations/${id}`, title: name }));
  }

  private topics(): readonly Hit[] {
    return topicsFor(protocolEndpoints(this.adapters.clientAdapters)).map(({ name, title, text }) => ({
      href: addressOfTopic(name),
      title,
      text,
    }));
  }
}

const navigationOf = (visitor: Visitor): readonly Hit[] =>
  navigationPages(visitor).map(({ href, label }) => ({
    href,
    title: label,
    ...(href.startsWith('/admin') && { text: 'Admin console' }),
  }));

const pagesOf = (visitor: Visitor): readonly Hit[] => [
  ...navigationOf(visitor),
  ...(allows(visitor.organization, 'use keys') ? [NEW_KEY] : []),
  ...OWN_PAGES,
  ...(visitor.isAdministrator ? ADMIN_PAGES.map((page) => ({ ...page, text: 'Admin console' })) : []),
];

function matching(hits: readonly Hit[], text: string): readonly Hit[] {
  const words = text.toLowerCase().split(/\s+/);
  const found = hits.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
  return found.slice(0, MAX_HITS);
}

/** `/search`. The script shows it as a dialog on every page (Ctrl-K). */
@SignedIn()
@Controller('search')
class SearchController {
  constructor(private readonly search: ConsoleSearch) {}

  @Get()
  async show(@CurrentVisitor() visitor: Visitor, @Query('q') query?: unknown): Promise<Page | Redirect> {
    const text = typeof query === 'string' ? query.replaceAll('\0', '').trim().slice(0, MAX_TEXT) : '';
    // Removes the secret from the address and the browser's history.
    if (SECRET.test(text)) return new Redirect('/search', IS_SECRET);
    const groups = await this.search.find(visitor, text);
    return new Page('search/search', { title: 'Search', width: 'narrow', data: { text, groups } });
  }
}

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, RelayModule, UsageModule],
  controllers: [SearchController],
  providers: [ConsoleSearch],
})
export class SearchModule {}
