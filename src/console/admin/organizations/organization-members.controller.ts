import { Body, Controller, Get, Injectable, Param, Post } from '@nestjs/common';
import { AccountService } from '../../../auth/index.js';
import { type Member, Members, MembersReader, MemberWriter, Teams } from '../../../keys/organizations/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import {
  budgetRows,
  choiceOf,
  InviteForm,
  keysOf,
  memberRow,
  NO_TEAM,
  RemoveForm,
  ROLE_OPTIONS,
  MemberRoleForm,
} from '../../organizations/index.js';
import { Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { OrganizationPages } from './organization.pages.js';
import { organizationCrumbs, organizationFacts } from './organization.view.js';

const pathOf = (id: string): string => `/admin/organizations/${id}`;

/** The submitted form, if it was rejected. */
interface Sent {
  readonly role?: Form<MemberRoleForm>;
  readonly removal?: Form<RemoveForm>;
}

/** Adding a member, and one member. */
@Injectable()
export class OrganizationMemberPages {
  constructor(
    private readonly organizations: OrganizationPages,
    private readonly members: Members,
    private readonly reader: MembersReader,
    private readonly teams: Teams,
  ) {}

  async add(id: string, form: Form<InviteForm>): Promise<Page> {
    const organization = await this.organizations.findPresent(id);
    return new Page('admin/organizations-add-member', {
      title: 'Add member',
      width: 'narrow',
      data: {
        form,
        organization: organizationFacts(organization),
        roles: ROLE_OPTIONS,
        teams: await this.teamOptions(id),
        crumbs: organizationCrumbs(organization, { label: 'Add member' }),
      },
    });
  }

  async show(id: string, memberId: string, { role, removal }: Sent = {}): Promise<Page> {
    const organization = await this.organizations.findPresent(id);
    const member = await this.members.get(id, memberId);
    const values = { role: member.role, team: member.team?.id ?? '' };
    return new Page('admin/organizations-member', {
      title: member.email,
      width: 'narrow',
      data: {
        form: role ?? removal ?? Form.empty(),
        role: role ?? Form.empty<MemberRoleForm>(values),
        removal: removal ?? Form.empty<RemoveForm>({ keys: 'disable' }),
        member: { ...memberRow(member), title: member.email, joinedAt: member.joinedAt },
        account: `/admin/users/${member.accountId}`,
        budgets: budgetRows(member.budgets, true),
        isOwner: member.role === 'owner',
        path: `${pathOf(id)}/members/${memberId}`,
        roles: ROLE_OPTIONS,
        teams: await this.teamOptions(id),
        choices: await this.heirs(member),
        crumbs: organizationCrumbs(organization, { label: member.email }),
      },
    });
  }

  private async teamOptions(id: string) {
    return [NO_TEAM, ...(await this.teams.list(id)).map((team) => ({ value: team.id, label: team.name }))];
  }

  /** What may happen to the keys of a member who is removed. */
  private async heirs({ id, organizationId }: Member) {
    const others = (await this.reader.names(organizationId)).filter((other) => other.id !== id);
    return [
      { value: 'disable', label: 'Disable them' },
      { value: 'organization', label: 'Keep them as service keys' },
      ...others.map(choiceOf).map(({ value, label }) => ({ value, label: `Hand them over to ${label}` })),
    ];
  }
}

/** `/admin/organizations/:id/members/…`: administrators add members without an invitation. */
@Controller('admin/organizations/:id/members')
@Administrator()
export class OrganizationMembersController {
  constructor(
    private readonly pages: OrganizationMemberPages,
    private readonly accounts: AccountService,
    private readonly members: Members,
    private readonly write: MemberWriter,
  ) {}

  @Get('add')
  showForm(@Param('id') id: string): Promise<Page> {
    return this.pages.add(id, Form.empty({ role: 'member' }));
  }

  @Post('add')
  @RequiresRecentSignIn()
  async add(@Param('id') id: string, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(InviteForm, body);
    const email = await form.attempt((value) => this.added(id, value, form));
    if (email === undefined) return this.pages.add(id, form);
    return new Redirect(`${pathOf(id)}#members`, { tone: 'ok', title: `${email} added` });
  }

  @Get(':member')
  show(@Param('id') id: string, @Param('member') member: string): Promise<Page> {
    return this.pages.show(id, member);
  }

  /** Role and team, of which only the team can be changed for the owner. */
  @Post(':member/role')
  @RequiresRecentSignIn()
  async setRole(
    @Param('id') id: string,
    @Param('member') memberId: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const before = await this.members.get(id, memberId);
    const isOwner = before.role === 'owner';
    const role = Form.read(MemberRoleForm, isOwner ? { ...body, role: 'member' } : body);
    const isSaved = await role.succeeds(({ role: after, team }) =>
      this.members.set({ id, memberId: undefined }, memberId, {
        role: isOwner ? undefined : after,
        teamId: team || null,
      }),
    );
    if (!isSaved) return this.pages.show(id, memberId, { role });
    const text = 'They apply within a second.';
    return new Redirect(`${pathOf(id)}/members/${memberId}`, { tone: 'ok', title: 'Role and team saved', text });
  }

  @Post(':member/remove')
  @RequiresRecentSignIn()
  async remove(
    @Param('id') id: string,
    @Param('member') memberId: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const { email } = await this.members.get(id, memberId);
    const removal = Form.read(RemoveForm, body);
    const isRemoved = await removal.succeeds(({ keys }) =>
      this.members.remove({ id, memberId: undefined }, memberId, keysOf(keys)),
    );
    if (!isRemoved) return this.pages.show(id, memberId, { removal });
    return new Redirect(`${pathOf(id)}#members`, { tone: 'ok', title: `${email} removed` });
  }

  /** @returns the address; undefined if no account has it */
  private async added(
    id: string,
    { email, role, team }: InviteForm,
    form: Form<InviteForm>,
  ): Promise<string | undefined> {
    const account = await this.accounts.find(email.toLowerCase());
    if (account === undefined) {
      form.refuse('email', 'Enter the email address of a user.');
      return undefined;
    }
    const member = { organizationId: id, accountId: account.id, email: account.email, role, teamId: team || undefined };
    await this.write.add(member, {});
    return account.email;
  }
}
