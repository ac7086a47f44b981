import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { AccountImport, Onboarding } from '../../../keys/onboarding/index.js';
import { amountOf, Form, type FormBody, OnceForms, Page, Redirect } from '../../web/index.js';
import { groupOptions, UserChoices } from './user-choices.js';
import { NewUserForm } from './user-forms.js';

const CRUMBS = [{ href: '/admin/users', label: 'Users' }, { label: 'New user' }];

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
    private readonly invitations: AccountImport,
    private readonly choices: UserChoices,
    private readonly recent: RecentSignIn,
    private readonly once: OnceForms,
  ) {}

  async ask(
    visitor: Visitor,
    form: Form<NewUserForm> = Form.empty({ group: 'default', way: 'password' }),
  ): Promise<Page> {
    const data = {
      form,
      crumbs: CRUMBS,
      groups: groupOptions(await this.choices.groups()),
      ways: WAYS,
      passwordNeeded: this.recent.needed(visitor),
    };
    return new Page('admin/users-new', { title: 'New user', width: 'narrow', data });
  }

  /** Renders the password in the response, so that no URL leads to it. A repeated submission redirects to the user. */
  async create(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(NewUserForm, body);
    const create = () => form.attempt((value) => this.created(visitor, value));
    const result = await this.once.run(visitor.accountId, body, create, ({ id }) => `/admin/users/${id}`);
    if (result === undefined) return this.ask(visitor, form);
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
    const [failed] = invites ? await this.invitations.invite([{ id, email }]) : [];
    return { id, email, password: generatedPassword?.reveal(), notInvited: failed?.reason };
  }
}

const WAYS = [
  { value: 'password', label: 'Password, shown here once' },
  { value: 'invite', label: 'Email with a link to choose a password' },
];

const INVITED = { tone: 'ok', title: 'User invited', text: 'The link in the email is valid for 7 days.' } as const;

const notInvited = (reason: string) =>
  ({
    tone: 'warn',
    title: 'User created, but not invited',
    text: `The email could not be sent: ${reason}`,
  }) as const;

const createdPage = ({ id, email, password }: MadeUser): Page =>
  new Page('admin/users-created', {
    title: 'User created',
    width: 'narrow',
    data: { id, email, password, crumbs: CRUMBS },
  });
