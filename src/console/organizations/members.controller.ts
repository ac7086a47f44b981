import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import { allows, ORGANIZATION_ROLES, type OrganizationScope, type Visitor } from '../../auth/index.js';
import {
  type Member,
  type MemberFilter,
  MemberInvitations,
  Members,
  MembersReader,
  Teams,
} from '../../keys/organizations/index.js';
import { Allows, Audited, SignedIn } from '../access/index.js';
import { Cursors, CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';
import {
  InviteForm,
  keysOf,
  limitsTyped,
  MemberLimitsForm,
  memberValues,
  RemoveForm,
  MemberRoleForm,
} from './organization-forms.js';
import {
  budgetRows,
  choiceOf,
  crumbs,
  memberRow,
  NO_TEAM,
  organizationOf,
  personOf,
  ROLE_LABELS,
  ROLE_OPTIONS,
  tabsOf,
} from './organization.view.js';

type MemberQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

const LIST = 'members';
const PATH = '/organization/members';
const MAX_TEXT = 100;

/** The list of members, with their filters and the form that invites them. */
@Injectable()
export class MemberListPages {
  constructor(
    private readonly reader: MembersReader,
    private readonly invitations: MemberInvitations,
    private readonly teams: Teams,
    private readonly cursors: Cursors,
  ) {}

  async list(organization: OrganizationScope, query: MemberQuery): Promise<Page> {
    const filter = filterOf(query);
    const position = this.cursors.placeIn(LIST, query);
    const { members, previous, next } = await this.reader.page(organization.id, filter, position ?? {});
    const teams = await this.teamChoices(organization);
    const mayManage = allows(organization, 'manage organization');
    const at = (side: 'before' | 'after', member: Member | undefined): string | undefined =>
      member && address(filter, { [side]: this.cursors.seal(LIST, { id: member.id }) });
    return new Page('organizations/members', {
      title: 'Members',
      data: {
        tabs: tabsOf(organization, 'members'),
        crumbs: crumbs(organization, { label: 'Members' }),
        rows: members.map(memberRow),
        text: filter.text ?? '',
        roles: [{ value: '', label: 'All roles' }, ...ROLES].map(selected(filter.role)),
        teams: [{ value: '', label: 'All teams' }, ...teams].map(selected(filter.teamId)),
        all: { href: PATH, label: 'Clear filters' },
        mayManage,
        invitations: mayManage ? (await this.invitations.list(organization.id)).map(invitationRow) : [],
        stale: position === undefined,
        pages: previous || next,
        newer: previous ? at('before', members[0]) : undefined,
        older: next ? at('after', members.at(-1)) : undefined,
      },
    });
  }

  async invite(organization: OrganizationScope, form: Form<InviteForm>): Promise<Page> {
    return new Page('organizations/invite', {
      title: 'Invite member',
      width: 'narrow',
      data: {
        form,
        roles: ROLE_OPTIONS,
        teams: [NO_TEAM, ...(await this.teamChoices(organization))],
        crumbs: crumbs(organization, { href: PATH, label: 'Members' }, { label: 'Invite' }),
      },
    });
  }

  async teamChoices({ id }: OrganizationScope) {
    return (await this.teams.list(id)).map((team) => ({ value: team.id, label: team.name }));
  }
}

/** `/organization/members`: list and invitations. */
@Controller('organization/members')
@SignedIn()
@Audited()
export class MembersController {
  constructor(
    private readonly invitations: MemberInvitations,
    private readonly pages: MemberListPages,
  ) {}

  @Get()
  @Allows('view organization')
  list(@CurrentVisitor() visitor: Visitor, @Query() query: MemberQuery): Promise<Page> {
    return this.pages.list(organizationOf(visitor), query);
  }

  @Get('invite')
  @Allows('manage organization')
  invitePage(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.pages.invite(organizationOf(visitor), Form.empty());
  }

  @Post('invite')
  @Allows('manage organization')
  async invite(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const form = Form.read(InviteForm, body);
    const email = await form.attempt(({ team, ...invited }) =>
      this.invitations.invite(organization, { ...invited, teamId: team || undefined }, visitor.ip),
    );
    return email === undefined
      ? this.pages.invite(organization, form)
      : back(`Invitation sent to ${email}`, 'The link works once, for 7 days.');
  }

  @Post('invitations/:id/resend')
  @Allows('manage organization')
  async resend(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    await this.invitations.sendAgain(organizationOf(visitor), id, visitor.ip);
    return back('Invitation sent again', 'The previous link no longer works.');
  }

  @Post('invitations/:id/withdraw')
  @Allows('manage organization')
  async withdraw(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    const email = await this.invitations.withdraw(organizationOf(visitor), id);
    return back(`Invitation of ${email} withdrawn`);
  }
}

interface SubmittedForms {
  readonly limits?: Form<MemberLimitsForm>;
  readonly role?: Form<MemberRoleForm>;
  readonly removal?: Form<RemoveForm>;
}

/** `/organization/members/:id`: budgets, role, team, removal. Members of other organizations are not found. */
@Controller('organization/members/:id')
@SignedIn()
@Audited()
export class MemberController {
  constructor(
    private readonly members: Members,
    private readonly reader: MembersReader,
    private readonly lists: MemberListPages,
  ) {}

  @Get()
  @Allows('view organization')
  async show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.page(organizationOf(visitor), id);
  }

  @Post('limits')
  @Allows('manage organization')
  async setLimits(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const limits = Form.read(MemberLimitsForm, body);
    const isSaved = await limits.succeeds((value) =>
      this.members.setLimits(organization, id, Number(value.version), limitsTyped(value)),
    );
    return isSaved
      ? backTo(id, 'Budgets saved', 'They apply from the next call on.')
      : this.page(organization, id, { limits });
  }

  /** Role and team, of which only the team can be changed for the owner. */
  @Post('role')
  @Allows('manage organization')
  async setRole(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const { role: before } = await this.members.get(organization.id, id);
    const role = Form.read(MemberRoleForm, before === 'owner' ? { ...body, role: 'member' } : body);
    const isSaved = await role.succeeds(async ({ role: after, team }) => {
      if (before !== 'owner' && before !== after) await this.members.setRole(organization, id, after);
      await this.members.setTeam(organization, id, team || undefined);
    });
    return isSaved
      ? backTo(id, 'Role and team saved', 'They apply within a second.')
      : this.page(organization, id, { role });
  }

  @Get('remove')
  @Allows('manage organization')
  confirmRemoval(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.removalPage(organizationOf(visitor), id, Form.empty({ keys: 'disable' }));
  }

  @Post('remove')
  @Allows('manage organization')
  async remove(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const { email } = await this.members.get(organization.id, id);
    const removal = Form.read(RemoveForm, body);
    const isRemoved = await removal.succeeds(({ keys }) => this.members.remove(organization, id, keysOf(keys)));
    return isRemoved ? back(`${email} removed`) : this.removalPage(organization, id, removal);
  }

  private async page(organization: OrganizationScope, id: string, forms: SubmittedForms = {}): Promise<Page> {
    const member = await this.members.get(organization.id, id);
    const isOwner = member.role === 'owner';
    const isSelf = member.id === organization.memberId;
    const { title, email } = personOf(member);
    return new Page('organizations/member', {
      title,
      width: 'narrow',
      data: {
        form: forms.limits ?? forms.role ?? Form.empty(),
        limits: forms.limits ?? Form.empty(memberValues(member)),
        role: forms.role ?? Form.empty({ role: member.role, team: member.team?.id ?? '' }),
        member: { ...memberRow(member), title, email, joinedAt: member.joinedAt },
        budgets: budgetRows(member.budgets, true),
        mayManage: allows(organization, 'manage organization') && (!isOwner || isSelf),
        mayChangeRole: !isOwner && !isSelf,
        mayRemove: allows(organization, 'manage organization') && !isOwner && !isSelf,
        maySeeKeys: allows(organization, 'view all keys'),
        isOwner,
        isSelf,
        roles: ROLE_OPTIONS,
        teams: [NO_TEAM, ...(await this.lists.teamChoices(organization))],
        crumbs: crumbs(organization, { href: PATH, label: 'Members' }, { label: title }),
      },
    });
  }

  private async removalPage(organization: OrganizationScope, id: string, form: Form<RemoveForm>): Promise<Page> {
    const member = await this.members.get(organization.id, id);
    const { title } = personOf(member);
    const others = (await this.reader.names(organization.id)).filter((other) => other.id !== id);
    return new Page('organizations/remove', {
      title: `Remove ${title}?`,
      width: 'narrow',
      data: {
        form,
        member: { id, title, keys: member.keys, spent: member.budgets.monthly.used },
        choices: [
          { value: 'disable', label: 'Disable them' },
          { value: 'organization', label: 'Keep them as service keys' },
          ...others.map(choiceOf).map(({ value, label }) => ({ value, label: `Hand them over to ${label}` })),
        ],
        crumbs: crumbs(
          organization,
          { href: PATH, label: 'Members' },
          { href: `${PATH}/${id}`, label: title },
          { label: 'Remove' },
        ),
      },
    });
  }
}

const ROLES = ORGANIZATION_ROLES.map((value) => ({ value, label: ROLE_LABELS[value] }));

const selected =
  (chosen = '') =>
  (option: { value: string; label: string }) => ({ ...option, selected: option.value === chosen });

/** Removes control characters, which the database rejects. */
function filterOf(query: MemberQuery): MemberFilter {
  const text = (name: string): string => {
    const value = query[name];
    return typeof value === 'string'
      ? value
          .replaceAll(/\p{Cc}/gu, '')
          .trim()
          .slice(0, MAX_TEXT)
      : '';
  };
  const role = ORGANIZATION_ROLES.find((known) => known === text('role'));
  return { text: text('q') || undefined, role, teamId: text('team') || undefined };
}

function address({ text, role, teamId }: MemberFilter, cursor: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(cursor);
  for (const [name, value] of Object.entries({ q: text, role, team: teamId })) if (value) search.set(name, value);
  return `${PATH}?${search.toString()}`;
}

const invitationRow = ({
  id,
  email,
  role,
  team,
  sentAt,
  expiresAt,
  isExpired,
}: Awaited<ReturnType<MemberInvitations['list']>>[number]) => ({
  id,
  email,
  role: ROLE_LABELS[role],
  team,
  sentAt,
  expiresAt,
  isExpired,
});

const flash = (title: string, text?: string) => ({ tone: 'ok', title, ...(text !== undefined && { text }) }) as const;
const back = (title: string, text?: string): Redirect => new Redirect(PATH, flash(title, text));
const backTo = (id: string, title: string, text: string): Redirect => new Redirect(`${PATH}/${id}`, flash(title, text));
