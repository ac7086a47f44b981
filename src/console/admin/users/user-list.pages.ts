import { Injectable } from '@nestjs/common';
import type { AccountRole, AccountState } from '../../../auth/index.js';
import { Cursors, Page } from '../../web/index.js';
import { filterOptions, listAddress, type ListQuery, pageOf, textIn } from '../list-address.js';
import { UserChoices } from './user-choices.js';
import { type ListedUser, UserDirectory, type UserFilter } from './user-directory.js';
import { badgeOf, ROLE_FILTERS, ROLES, STATE_FILTERS, userTitle } from './user-labels.js';

const LIST = 'users';
const PAGE_USERS = 50;

/** `/admin/users`: the user list, filtered by query parameters. */
@Injectable()
export class UserListPages {
  constructor(
    private readonly users: UserDirectory,
    private readonly choices: UserChoices,
    private readonly cursors: Cursors,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const filter = filterOf(query);
    const position = this.cursors.placeIn(LIST, query);
    const found = await this.users.page(filter, position ?? {}, PAGE_USERS + 1);
    const { shown, newer, older } = pageOf(found, PAGE_USERS, position ?? {});
    const groups = (await this.choices.groups()).map((name) => [name, name] as const);
    return new Page('admin/users', {
      title: 'Users',
      data: {
        rows: shown.map(rowOf),
        stale: position === undefined,
        text: filter.text ?? '',
        roles: filterOptions(ROLE_FILTERS, filter.role),
        groups: filterOptions([['', 'All groups'], ...groups], filter.group),
        states: filterOptions(STATE_FILTERS, filter.state),
        all: { href: '/admin/users', label: 'Clear filters' },
        newer: newer ? this.address(filter, 'after', shown[0]) : undefined,
        older: older ? this.address(filter, 'before', shown.at(-1)) : undefined,
        perPage: PAGE_USERS,
      },
    });
  }

  private address(filter: UserFilter, side: 'before' | 'after', user: ListedUser | undefined): string | undefined {
    if (user === undefined) return undefined;
    const { text, role, group, state } = filter;
    return listAddress('/admin/users', {
      q: text,
      role,
      group,
      state,
      [side]: this.cursors.seal(LIST, { id: user.id }),
    });
  }
}

const ROLE_NAMES: readonly AccountRole[] = ['user', 'admin'];
const STATE_NAMES: readonly AccountState[] = ['enabled', 'disabled', 'deleted'];

const filterOf = (query: ListQuery): UserFilter => ({
  text: textIn(query, 'q'),
  role: ROLE_NAMES.find((role) => role === textIn(query, 'role')),
  group: textIn(query, 'group'),
  state: STATE_NAMES.find((state) => state === textIn(query, 'state')),
});

const rowOf = (user: ListedUser) => ({
  id: user.id,
  title: userTitle(user),
  name: user.name,
  role: ROLES[user.role],
  isAdministrator: user.role === 'admin',
  group: user.group,
  balance: user.balance,
  owed: user.owed > 0n ? user.owed : undefined,
  allowance: user.allowance > 0n ? user.allowance : undefined,
  calls: user.calls,
  lastSeenAt: user.lastSeenAt,
  badge: badgeOf(user),
});
