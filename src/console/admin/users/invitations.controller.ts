import { Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import { INVITATION_DAYS, ResendTooSoon } from '../../../auth/index.js';
import {
  InvitationSettled,
  InvitedAccountInUse,
  type PendingInvitation,
  UserInvitations,
} from '../../../keys/onboarding/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { Cursors, type Flash, Page, Redirect } from '../../web/index.js';
import { listAddress, type ListQuery, pageOf } from '../list-address.js';

const PATH = '/admin/users/invitations';
const LIST = 'user-invitations';
const PAGE_INVITATIONS = 50;
const CRUMBS = [{ href: '/admin/users', label: 'Users' }, { label: 'Invitations' }];

/** The list of pending invitations. */
@Injectable()
export class InvitationListPages {
  constructor(
    private readonly invitations: UserInvitations,
    private readonly cursors: Cursors,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const position = this.cursors.placeIn(LIST, query);
    const found = await this.invitations.page(position ?? {}, PAGE_INVITATIONS + 1);
    const { shown, newer, older } = pageOf(found, PAGE_INVITATIONS, position ?? {});
    return new Page('admin/users-invitations', {
      title: 'Invitations',
      data: {
        rows: shown,
        stale: position === undefined,
        newer: newer ? this.address('after', shown[0]) : undefined,
        older: older ? this.address('before', shown.at(-1)) : undefined,
        perPage: PAGE_INVITATIONS,
        days: INVITATION_DAYS,
        invite: { href: '/admin/users/new?way=invite', label: 'Invite user', icon: 'plus' },
        crumbs: CRUMBS,
      },
    });
  }

  private address(side: 'before' | 'after', invitation: PendingInvitation | undefined): string | undefined {
    return invitation && listAddress(PATH, { [side]: this.cursors.seal(LIST, { id: invitation.id }) });
  }
}

/** `/admin/users/invitations`: pending invitations by email. */
@Controller('admin/users/invitations')
@Administrator()
export class InvitationsController {
  constructor(
    private readonly pages: InvitationListPages,
    private readonly invitations: UserInvitations,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.pages.list(query);
  }

  @Post(':id/resend')
  @RequiresRecentSignIn()
  async resend(@Param('id') id: string): Promise<Redirect> {
    return settled(async () => {
      const failed = await this.invitations.sendAgain(id);
      return failed === undefined
        ? {
            tone: 'ok',
            title: 'Invitation sent',
            text: `Earlier links no longer work. Valid for ${INVITATION_DAYS} days.`,
          }
        : { tone: 'bad', title: 'Invitation not sent', text: `The email could not be sent: ${failed.reason}` };
    });
  }

  @Post(':id/withdraw')
  @RequiresRecentSignIn()
  async withdraw(@Param('id') id: string): Promise<Redirect> {
    return settled(async () => {
      const { email } = await this.invitations.withdraw(id);
      const text = `The link sent to ${email} no longer works, and the account was deleted.`;
      return { tone: 'ok', title: 'Invitation withdrawn', text };
    });
  }
}

/** Back to the list; expected errors become its message. */
async function settled(work: () => Promise<Flash>): Promise<Redirect> {
  return new Redirect(
    PATH,
    await work().catch((error: unknown): Flash => {
      if (!EXPECTED.some((type) => error instanceof type)) throw error;
      return { tone: 'warn', title: 'Nothing changed', text: (error as AppError).message };
    }),
  );
}

const EXPECTED = [InvitationSettled, InvitedAccountInUse, ResendTooSoon];
