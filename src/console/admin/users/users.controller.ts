import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Operator } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import type { ListQuery } from '../list-address.js';
import { UserListPages } from './user-list.pages.js';
import { UserNewPages } from './user-new.pages.js';

/** The user list, and creating a user. */
@Controller('admin/users')
@Operator()
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
  newUser(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.creation.ask(visitor);
  }

  @Post('new')
  create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.creation.create(visitor, body);
  }
}
