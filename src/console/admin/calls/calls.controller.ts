import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Operator } from '../../access/index.js';
import type { AddressParts } from '../../usage/index.js';
import { CurrentVisitor, type Page, sendCsv } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { CallsCsv } from './calls-csv.js';
import { CallsPages } from './calls.pages.js';

@Operator()
@Controller('admin')
export class CallsController {
  constructor(
    private readonly pages: CallsPages,
    private readonly csv: CallsCsv,
  ) {}

  @Get('calls')
  list(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts): Promise<Page> {
    return this.pages.list(visitor, parts);
  }

  @Get('calls.csv')
  export(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'calls', this.csv.of(visitor, parts));
  }

  @Get('calls/:id')
  call(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.pages.call(visitor, id);
  }
}
