import { Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { SignedIn } from '../access/index.js';
import { CurrentVisitor, type Page, type Redirect, sendCsv } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { UsageCsv } from './usage-csv.js';
import { UsageLogsPages } from './usage-logs.pages.js';
import type { AddressParts } from './usage-query.js';

@SignedIn()
@Controller('usage-logs')
export class UsageLogsController {
  constructor(
    private readonly pages: UsageLogsPages,
    private readonly csv: UsageCsv,
  ) {}

  @Get('common')
  list(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts): Promise<Page> {
    return this.pages.list(visitor, parts);
  }

  @Get('common.csv')
  export(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'usage', this.csv.of(visitor, parts));
  }

  @Get('common/:id')
  call(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.pages.call(visitor, id);
  }

  @Post('common/:id/forget')
  forget(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    return this.pages.forget(visitor, id);
  }
}
