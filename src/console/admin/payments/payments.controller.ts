import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Operator } from '../../access/index.js';
import type { FormBody, Page, Redirect } from '../../web/index.js';
import type { ListQuery } from '../list-address.js';
import { PaymentListPages } from './payment-list.pages.js';
import { PaymentProblemPages } from './payment-problem.pages.js';

/** Payment provider events that could not be applied: list and resolution. */
@Controller('admin/payments')
@Operator()
export class PaymentProblemsController {
  constructor(
    private readonly lists: PaymentListPages,
    private readonly problems: PaymentProblemPages,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get(':id')
  show(@Param('id') id: string): Promise<Page> {
    return this.problems.ask(id);
  }

  @Post(':id')
  resolve(@Param('id') id: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.problems.resolve(id, body);
  }
}
