import { Controller, Param, Post } from '@nestjs/common';
import { CurrentVisitor, Redirect } from '../web/index.js';
import { SignedIn } from '../access/index.js';
import { SessionService, type Visitor } from '../../auth/index.js';

/** Signs one's other browsers out. */
@Controller('account/sessions')
@SignedIn()
export class AccountSessionsController {
  constructor(private readonly sessions: SessionService) {}

  @Post('others/end')
  async endOthers(@CurrentVisitor() { accountId, sessionId }: Visitor): Promise<Redirect> {
    await this.sessions.endAllOf(accountId, sessionId);
    return new Redirect('/account', { tone: 'ok', title: 'All other sessions are signed out' });
  }

  /** Another account's session is not found. */
  @Post(':id/end')
  async end(@Param('id') id: string, @CurrentVisitor() { accountId }: Visitor): Promise<Redirect> {
    await this.sessions.end(accountId, id);
    return new Redirect('/account', { tone: 'ok', title: 'Session signed out' });
  }
}
