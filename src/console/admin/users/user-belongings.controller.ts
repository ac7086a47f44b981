import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { SessionService, type Visitor } from '../../../auth/index.js';
import { Operator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, Redirect } from '../../web/index.js';
import { UserKeyQuotaPages } from './user-key-quota.pages.js';
import { UserKeyPages } from './user-keys.pages.js';
import { UserPages } from './user.pages.js';

/** A user's API keys and sessions. */
@Controller('admin/users/:id')
@Operator()
export class UserBelongingsController {
  constructor(
    private readonly users: UserPages,
    private readonly keys: UserKeyPages,
    private readonly quotas: UserKeyQuotaPages,
    private readonly sessions: SessionService,
  ) {}

  @Get('keys/:key')
  showKey(
    @CurrentVisitor() visitor: Visitor,
    @Param() { id, key }: { readonly id: string; readonly key: string },
    @Query('range') range?: unknown,
  ): Promise<Page> {
    return this.keys.show(visitor, id, key, range);
  }

  @Post('keys/:key/disable')
  @RequiresRecentSignIn()
  disableKey(@Param('id') id: string, @Param('key') key: string): Promise<Redirect> {
    return this.keys.disable(id, key);
  }

  @Post('keys/:key/enable')
  @RequiresRecentSignIn()
  enableKey(@Param('id') id: string, @Param('key') key: string): Promise<Redirect> {
    return this.keys.enable(id, key);
  }

  @Get('keys/:key/quota')
  askForQuota(@Param('id') id: string, @Param('key') key: string): Promise<Page> {
    return this.quotas.ask(id, key);
  }

  @Post('keys/:key/quota')
  @RequiresRecentSignIn()
  changeQuota(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Param('key') key: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.quotas.change(visitor, id, key, body);
  }

  @Get('keys/:key/delete')
  askToDeleteKey(@Param('id') id: string, @Param('key') key: string): Promise<Page> {
    return this.keys.askToDelete(id, key);
  }

  @Post('keys/:key/delete')
  @RequiresRecentSignIn()
  deleteKey(@Param('id') id: string, @Param('key') key: string): Promise<Redirect> {
    return this.keys.delete(id, key);
  }

  @Post('sessions/:session/end')
  async endSession(@Param('id') id: string, @Param('session') session: string): Promise<Redirect> {
    await this.sessions.end(id, session);
    return new Redirect(`/admin/users/${id}#sessions`, { tone: 'ok', title: 'Browser signed out' });
  }

  @Post('sessions/end')
  async endSessions(@Param('id') id: string): Promise<Redirect> {
    await this.users.find(id);
    await this.sessions.endAllOf(id);
    return new Redirect(`/admin/users/${id}#sessions`, { tone: 'ok', title: 'All browsers signed out' });
  }
}
