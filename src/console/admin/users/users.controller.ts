import { Body, Controller, Get, Injectable, Post, Query } from '@nestjs/common';
import {
  type AccountRole,
  type AccountState,
  INVITATION_DAYS,
  RecentSignIn,
  type Visitor,
} from '../../../auth/index.js';
import { Onboarding, UserInvitations } from '../../../keys/onboarding/index.js';
import { Administrator } from '../../access/index.js';
import {
  amountOf,
  CurrentVisitor,
  Cursors,
  Form,
  type FormBody,
  IdempotentForms,
  Page,
  Redirect,
} from '../../web/index.js';
import { filterOptions, listAddress, type ListQuery, pageOf, textIn } from '../list-address.js';
import { type ListedUser, UserDirectory, type UserFilter, type UserSort } from './user-directory.js';
import { badgeOf, groupOptions, ROLE_FILTERS, ROLES, STATE_FILTERS, UserChoices, userTitle } from './user-facts.js';
import { NewUserForm } from './user-forms.js';

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
    const position = this.cursors.placeIn(listName(filter), query);
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
        sorts: filterOptions(SORTS, filter.sort),
        order: `${SORTS.find(([sort]) => sort === (filter.sort ?? ''))?.[1] ?? ''} first`,
        isSorted: filter.sort !== undefined,
        all: { href: '/admin/users', label: 'Clear filters' },
        newer: newer ? this.address(filter, 'after', shown[0]) : undefined,
        older: older ? this.address(filter, 'before', shown.at(-1)) : undefined,
        perPage: PAGE_USERS,
      },
    });
  }

  private address(filter: UserFilter, side: 'before' | 'after', user: ListedUser | undefined): string | undefined {
    if (user === undefined) return undefined;
    const { text, role, group, state, sort } = filter;
    return listAddress('/admin/users', {
      q: text,
      role,
      group,
      state,
      sort,
      [side]: this.cursors.seal(listName(filter), {
        id: user.id,
        ...(sort !== undefined && { value: String(user.balance) }),
      }),
    });
  }
}

const SORTS: readonly (readonly [UserSort | '', string])[] = [
  ['', 'Newest'],
  ['highest-balance', 'Highest balance'],
  ['lowest-balance', 'Lowest balance'],
];

/** Cursors of a sorted list are invalid in others. */
const listName = ({ sort }: UserFilter): string => (sort === undefined ? LIST : `${LIST} by ${sort}`);

const ROLE_NAMES: readonly AccountRole[] = ['user', 'admin'];
const STATE_NAMES: readonly AccountState[] = ['enabled', 'disabled', 'deleted'];

const filterOf = (query: ListQuery): UserFilter => ({
  text: textIn(query, 'q'),
  role: ROLE_NAMES.find((role) => role === textIn(query, 'role')),
  group: textIn(query, 'group'),
  state: STATE_NAMES.find((state) => state === textIn(query, 'state')),
  sort: SORTS.map(([sort]) => sort).find((sort): sort is UserSort => sort !== '' && sort === textIn(query, 'sort')),
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

const crumbsTo = (label: string) => [{ href: '/admin/users', label: 'Users' }, { label }];

/** A created user, with what is shown only once. */
interface MadeUser {
  readonly id: string;
  readonly email: string;
  /** Undefined if the user was invited by email. */
  readonly password: string | undefined;
  /** Why the invitation could not be sent. */
  readonly notInvited: string | undefined;
}

/** `/admin/users/new`: creates an account with its wallet and opening credit. */
@Injectable()
export class UserNewPages {
  constructor(
    private readonly onboarding: Onboarding,
    private readonly invitations: UserInvitations,
    private readonly choices: UserChoices,
    private readonly recent: RecentSignIn,
    private readonly once: IdempotentForms,
  ) {}

  /** @param way preselected: `password` or `invite` */
  showEmpty(visitor: Visitor, way: string | undefined): Promise<Page> {
    return this.showForm(visitor, Form.empty({ group: 'default', way: way === 'invite' ? way : 'password' }));
  }

  private async showForm(visitor: Visitor, form: Form<NewUserForm>): Promise<Page> {
    const invites = form.values['way'] === 'invite';
    const title = invites ? 'Invite user' : 'Create user';
    const data = {
      form,
      title,
      invites,
      button: invites ? 'Send invitation' : 'Create user',
      days: INVITATION_DAYS,
      crumbs: crumbsTo(title),
      groups: groupOptions(await this.choices.groups()),
      ways: WAYS,
      passwordNeeded: this.recent.needed(visitor),
    };
    return new Page('admin/users-new', { title, width: 'narrow', data });
  }

  /** Renders the password in the response, so that no URL leads to it. A repeated submission redirects to the user. */
  async create(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(NewUserForm, body);
    const create = () => form.attempt((value) => this.created(visitor, value));
    const result = await this.once.run(visitor.accountId, body, create, ({ id }) => `/admin/users/${id}`);
    if (result === undefined) return this.showForm(visitor, form);
    const { location, made } = result;
    if (made === undefined)
      return new Redirect(location, {
        tone: 'ok',
        title: 'This user already exists',
        text: 'The form was already submitted.',
      });
    if (made.password !== undefined) return createdPage(made);
    return new Redirect(location, made.notInvited === undefined ? INVITED : notInvited(made.notInvited));
  }

  private async created(visitor: Visitor, form: NewUserForm): Promise<MadeUser> {
    const groupName = await this.choices.groupName(form.group);
    await this.recent.confirm(visitor, form.password);
    const amount = amountOf(form.credit);
    const credit = amount ? { amount, reason: 'Opening credit by an administrator' } : undefined;
    const invites = form.way === 'invite';
    const account = { email: form.email, name: form.name, groupName };
    // An address typed by the administrator counts as verified; an invited one is verified by the link.
    const { id, email, generatedPassword } = await this.onboarding.createAccount(
      invites ? { ...account, passwordHash: null } : { ...account, verified: true },
      credit,
      amountOf(form.allowance),
    );
    const [failed] = invites ? await this.invitations.send([{ id, email }]) : [];
    return { id, email, password: generatedPassword?.reveal(), notInvited: failed?.reason };
  }
}

const WAYS = [
  { value: 'password', label: 'Show a password once' },
  { value: 'invite', label: 'Email a link to choose a password' },
];

const INVITED = {
  tone: 'ok',
  title: 'User invited',
  text: `The link in the email is valid for ${INVITATION_DAYS} days.`,
  action: { href: '/admin/users/invitations', label: 'Pending invitations' },
} as const;

const notInvited = (reason: string) =>
  ({
    tone: 'warn',
    title: 'User created, but the invitation wasn’t sent',
    text: `The email could not be sent: ${reason}`,
  }) as const;

const createdPage = ({ id, email, password }: MadeUser): Page =>
  new Page('admin/users-created', {
    title: 'User created',
    width: 'narrow',
    hasSecret: true,
    data: { id, email, password, crumbs: crumbsTo('Create user') },
  });

/** The user list, and creating a user. */
@Controller('admin/users')
@Administrator()
export class UsersController {
  constructor(
    private readonly lists: UserListPages,
    private readonly creation: UserNewPages,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get('new')
  newUser(@CurrentVisitor() visitor: Visitor, @Query() query: ListQuery): Promise<Page> {
    return this.creation.showEmpty(visitor, textIn(query, 'way'));
  }

  @Post('new')
  create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.creation.create(visitor, body);
  }
}
