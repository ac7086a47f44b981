import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Operator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import type { ListQuery } from '../list-address.js';
import { CodeBatchPages } from './code-batch.pages.js';
import { CodeListPages } from './code-list.pages.js';
import { codesCsv } from './codes-csv.js';

/** Redemption codes: list, creation and voiding. */
@Controller('admin/codes')
@Operator()
export class CodesController {
  constructor(
    private readonly lists: CodeListPages,
    private readonly batches: CodeBatchPages,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get('new')
  newCodes(@CurrentVisitor() visitor: Visitor): Page {
    return this.batches.ask(visitor);
  }

  @Post('new')
  create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.batches.create(visitor, body);
  }

  @Post('csv')
  download(@Body() body: FormBody, @Res() reply: FastifyReply): void {
    const file = [...codesCsv(body)].join('');
    void reply
      .headers({ 'cache-control': 'no-store', 'content-disposition': 'attachment; filename="codes.csv"' })
      .type('text/csv; charset=utf-8')
      .send(file);
  }

  @Post(':id/void')
  @RequiresRecentSignIn()
  void(@Param('id') id: string): Promise<Redirect> {
    return this.batches.void(id);
  }
}
