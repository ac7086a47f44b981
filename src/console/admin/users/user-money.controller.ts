import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { Operator } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { UserAllowancePages } from './user-allowance.pages.js';
import { UserBalancePages } from './user-balance.pages.js';

type MoneyPageResult = Promise<Page | Redirect>;

/** A user's balance adjustments and monthly allowance. */
@Controller('admin/users/:id')
@Operator()
export class UserMoneyController {
  constructor(
    private readonly balance: UserBalancePages,
    private readonly allowance: UserAllowancePages,
  ) {}

  @Get('balance')
  askForAmount(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.balance.ask(visitor, id);
  }

  @Post('balance')
  adjustBalance(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): MoneyPageResult {
    return this.balance.adjust(visitor, id, body);
  }

  @Get('allowance')
  askForAllowance(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.allowance.ask(visitor, id);
  }

  @Post('allowance')
  setAllowance(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): MoneyPageResult {
    return this.allowance.set(visitor, id, body);
  }
}
