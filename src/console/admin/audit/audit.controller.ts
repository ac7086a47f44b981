import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Operator } from '../../access/index.js';
import type { AddressParts } from '../../usage/index.js';
import { CurrentVisitor, type Page, sendCsv } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { AuditCsv } from './audit-csv.js';
import { AuditPages } from './audit.pages.js';

@Operator()
@Controller('admin')
export class AuditController {
  constructor(
    private readonly pages: AuditPages,
    private readonly csv: AuditCsv,
  ) {}

  @Get('audit')
  list(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts): Promise<Page> {
    return this.pages.list(visitor, parts);
  }

  @Get('audit.csv')
  export(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'audit', this.csv.of(visitor, parts));
  }
}
