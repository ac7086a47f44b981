import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Operator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import type { ListQuery } from '../list-address.js';
import { UserChanges } from './user-changes.js';
import { UserDeletePages } from './user-delete.pages.js';
import { UserSecondFactorPages } from './user-second-factor.pages.js';
import { UserPages } from './user.pages.js';

type UserPageResult = Promise<Page | Redirect>;

/** One user: page, settings, role, sign-in and deletion. */
@Controller('admin/users/:id')
@Operator()
export class UserController {
  constructor(
    private readonly pages: UserPages,
    private readonly changes: UserChanges,
    private readonly deletion: UserDeletePages,
    private readonly secondFactor: UserSecondFactorPages,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query() query: ListQuery): Promise<Page> {
    return this.pages.show(visitor, id, query);
  }

  @Post('settings')
  @RequiresRecentSignIn()
  saveSettings(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): UserPageResult {
    return this.changes.settings(visitor, id, body);
  }

  @Post('role')
  setRole(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): UserPageResult {
    return this.changes.role(visitor, id, body);
  }

  @Post('suspend')
  @RequiresRecentSignIn()
  suspend(@Param('id') id: string): Promise<Redirect> {
    return this.changes.suspend(id);
  }

  @Post('enable')
  @RequiresRecentSignIn()
  enable(@Param('id') id: string): Promise<Redirect> {
    return this.changes.enable(id);
  }

  @Get('second-factor')
  askToRemoveSecondFactor(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): UserPageResult {
    return this.secondFactor.ask(visitor, id);
  }

  @Post('second-factor')
  removeSecondFactor(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): UserPageResult {
    return this.secondFactor.remove(visitor, id, body);
  }

  @Get('delete')
  askToDelete(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.deletion.ask(visitor, id);
  }

  @Post('delete')
  delete(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): UserPageResult {
    return this.deletion.delete(visitor, id, body);
  }
}
