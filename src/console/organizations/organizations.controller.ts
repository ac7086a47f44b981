import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { SessionService, type Visit, type Visitor } from '../../auth/index.js';
import { SignUpRules } from '../../keys/onboarding/index.js';
import {
  InvitationGone,
  type MemberInvitation,
  MemberInvitations,
  Organizations,
} from '../../keys/organizations/index.js';
import { Audited, Public, SignedIn } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../web/index.js';
import { OrganizationNameForm } from './organization-forms.js';
import { ROLE_LABELS } from './organization.view.js';

/** `/organizations`: those of a user, their invitations, and creation. */
@Controller('organizations')
@SignedIn()
@Audited()
export class OwnOrganizationsController {
  constructor(
    private readonly organizations: Organizations,
    private readonly invitations: MemberInvitations,
    private readonly sessions: SessionService,
    private readonly once: IdempotentForms,
  ) {}

  @Get()
  list(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.page(visitor, Form.empty());
  }

  @Post()
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(OrganizationNameForm, body);
    const result = await this.once.run(
      visitor.accountId,
      body,
      () => form.attempt(({ name }) => this.organizations.create(visitor, name)),
      () => '/organization',
    );
    if (result === undefined) return this.page(visitor, form);
    if (result.made === undefined) return new Redirect('/organizations');
    await this.sessions.enter(visitor, result.made);
    const text = 'Add funds, then invite members. You now work in this organization.';
    return new Redirect(result.location, { tone: 'ok', title: 'Organization created', text });
  }

  @Post('invitations/:id/accept')
  async accept(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { organizationId, organization } = await this.invitations.accept(visitor, id);
    await this.sessions.enter(visitor, organizationId);
    const text = 'Switch between your accounts in the navigation.';
    return new Redirect('/organization', { tone: 'ok', title: `You now work in ${organization}`, text });
  }

  @Post('invitations/:id/decline')
  async decline(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { organization } = await this.invitations.decline(visitor, id);
    return new Redirect('/organizations', { tone: 'ok', title: `Invitation to ${organization} declined` });
  }

  private async page(visitor: Visitor, form: Form<OrganizationNameForm>): Promise<Page> {
    const own = await this.organizations.of(visitor.accountId);
    return new Page('organizations/list', {
      title: 'Organizations',
      width: 'narrow',
      data: {
        form,
        rows: own.map(({ id, name, role, members, isOffered }) => ({
          id,
          name,
          role: ROLE_LABELS[role],
          members,
          isOffered,
          isCurrent: id === visitor.organization?.id,
        })),
        invitations: (await this.invitations.waitingFor(visitor)).map(invitationView),
        mayCreate: this.organizations.mayCreate(visitor),
      },
    });
  }
}

/** `/join`: the page of a mailed invitation. Anyone with the link sees it; the invited account accepts. */
@Controller('join')
@Public()
export class JoinController {
  constructor(
    private readonly invitations: MemberInvitations,
    private readonly rules: SignUpRules,
  ) {}

  @Get()
  async show(@CurrentVisit() { visitor, url }: Visit, @Query('t') token: unknown): Promise<Page> {
    const invitation = await this.find(token);
    const isOwn = visitor !== undefined && visitor.verified && visitor.email === invitation?.email;
    return new Page('organizations/join', {
      title: invitation === undefined ? 'Invitation' : `Join ${invitation.organization}`,
      layout: 'auth',
      status: invitation === undefined ? 404 : undefined,
      data: {
        invitation: invitation && invitationView(invitation),
        isOwn,
        otherEmail: isOwn ? undefined : visitor?.email,
        signIn: `/sign-in?next=${encodeURIComponent(url)}`,
        isClosed: this.rules.closed,
      },
    });
  }

  private async find(token: unknown): Promise<MemberInvitation | undefined> {
    try {
      return typeof token === 'string' ? await this.invitations.open(token) : undefined;
    } catch (error) {
      if (error instanceof InvitationGone) return undefined;
      throw error;
    }
  }
}

const invitationView = ({ id, organization, email, role, team, inviter, expiresAt }: MemberInvitation) => ({
  id,
  organization,
  email,
  role: ROLE_LABELS[role],
  team,
  inviter: inviter === '' ? 'An administrator' : inviter,
  expiresAt,
});
