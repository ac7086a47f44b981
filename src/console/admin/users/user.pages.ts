import { Injectable } from '@nestjs/common';
import { type Account, AccountGone, RecentSignIn, termsRevision, type Visitor } from '../../../auth/index.js';
import { Form, Page } from '../../web/index.js';
import { clockTime, count, shortDay, usd } from '../../../platform/format/index.js';
import { differencesOf } from '../catalog-form.js';
import { listAddress, type ListQuery } from '../list-address.js';
import {
  accountView,
  badgeOf,
  groupOptions,
  ROLES,
  UserChoices,
  userCrumbs,
  UserFacts,
  UserLists,
  userTitle,
} from './user-facts.js';
import { type ListedUser, UserDirectory } from './user-directory.js';
import type { RoleForm, SettingsForm } from './user-forms.js';

export interface SentSettings {
  readonly form: Form<SettingsForm>;
  /** Whether others were saved meanwhile; the differences are shown. */
  readonly conflict?: boolean;
}

/** The submitted form, if it was rejected. */
interface Sent {
  readonly settings?: SentSettings;
  readonly role?: Form<RoleForm>;
}

/** `/admin/users/:id`: one user. */
@Injectable()
export class UserPages {
  constructor(
    private readonly users: UserDirectory,
    private readonly facts: UserFacts,
    private readonly choices: UserChoices,
    private readonly recent: RecentSignIn,
    private readonly lists: UserLists,
  ) {}

  /** @throws AccountGone */
  async show(visitor: Visitor, id: string, query: ListQuery = {}, sent: Sent = {}): Promise<Page> {
    const user = await this.find(id);
    const account = await this.facts.account(id);
    const [keys, ledger] = [await this.lists.keys(id, query), await this.lists.ledger(id, query)];
    const settings = settingsView(account, sent.settings);
    const role = sent.role ?? Form.empty<RoleForm>({ role: account.role });
    return new Page('admin/users-user', {
      title: userTitle(user),
      ...(settings.differences && { status: 409 }),
      data: {
        // The rejected form; its errors are listed at the top of the page.
        form: sent.role ?? settings.form,
        settings,
        role,
        user: factsOf(user),
        stats: statsOf(user, visitor),
        crumbs: userCrumbs(user),
        groups: groupOptions(await this.choices.groups()),
        roles: Object.entries(ROLES).map(([value, label]) => ({ value, label })),
        passwordNeeded: this.recent.needed(visitor),
        isSelf: visitor.accountId === id,
        keys,
        ledger,
        lost: keys.lost || ledger.lost,
        sessions: await this.facts.sessionsOf(id, visitor.sessionId),
      },
    });
  }

  /** @throws AccountGone */
  async find(id: string): Promise<ListedUser> {
    // The database rejects some texts, such as those with NUL.
    const user = /^acc_\w+$/.test(id) ? await this.users.find(id) : undefined;
    if (user === undefined) throw new AccountGone();
    return user;
  }

  /** @throws AccountGone, also for a deleted account */
  async findPresent(id: string): Promise<ListedUser> {
    return present(await this.find(id));
  }

  /** A user or an organization. @throws AccountGone */
  async findAccount(id: string): Promise<ListedUser> {
    const account = /^org_\w+$/.test(id) ? await this.users.find(id) : await this.find(id);
    if (account === undefined) throw new AccountGone();
    return account;
  }

  /** @throws AccountGone, also for a deleted account */
  async findPresentAccount(id: string): Promise<ListedUser> {
    return present(await this.findAccount(id));
  }
}

function present(user: ListedUser): ListedUser {
  if (user.state === 'deleted') throw new AccountGone();
  return user;
}

const settingsIn = ({ groupName, limits }: Account) => ({
  group: groupName ?? 'default',
  callsPerMinute: limits.requestsPerMinute?.toString() ?? '',
  tokensPerMinute: limits.tokensPerMinute?.toString() ?? '',
  concurrency: limits.concurrency?.toString() ?? '',
});

const SETTING_LABELS = {
  group: 'Group',
  callsPerMinute: 'Calls per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent calls',
};

/** The form keeps the revision it was opened with, unless the current values are shown beside it. */
export function settingsView(account: Account, sent: SentSettings | undefined) {
  const now = settingsIn(account);
  const revision = termsRevision(account);
  if (sent === undefined) return { form: Form.empty<SettingsForm>(now), revision };
  const { form, conflict } = sent;
  if (conflict !== true) return { form, revision: form.values['revision'] };
  return { form, revision, differences: differencesOf(now, form.values, SETTING_LABELS) };
}

const factsOf = (user: ListedUser) => ({
  ...accountView(user),
  name: user.name,
  email: user.email,
  role: ROLES[user.role],
  createdAt: user.createdAt,
  badge: badgeOf(user),
  suspended: user.state === 'disabled',
  deleted: user.state === 'deleted',
  hasSecondFactor: user.hasSecondFactor,
  calls: listAddress('/admin/calls', { user: user.id }),
  changes: listAddress('/admin/audit', { object: user.id }),
  dryRun: listAddress('/admin/routing', { user: user.email }),
});

export function balanceNote({ owed, allowance }: Pick<ListedUser, 'owed' | 'allowance'>): string {
  if (owed > 0n) return `${usd(owed)} owed`;
  return allowance > 0n ? `${usd(allowance)} monthly allowance` : '';
}

const statsOf = (user: ListedUser, { timeZone }: Visitor) => [
  { label: 'Balance', value: usd(user.balance), note: balanceNote(user) },
  { label: 'Charged, 30 days', value: usd(user.charged), note: '' },
  { label: 'Calls, 30 days', value: count(user.calls), note: '' },
  {
    label: 'Last seen',
    value: user.lastSeenAt === null ? 'Never' : shortDay(user.lastSeenAt, timeZone),
    note: user.lastSeenAt === null ? '' : clockTime(user.lastSeenAt, timeZone, 'minutes'),
  },
];
