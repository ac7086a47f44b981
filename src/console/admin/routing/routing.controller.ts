import { Controller, Get, Query } from '@nestjs/common';
import { Operator } from '../../access/index.js';
import { CurrentVisitor, type Page } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { RoutingPages } from './routing.pages.js';

/** Read-only: the form is submitted in the query string. */
@Operator()
@Controller('admin/routing')
export class RoutingController {
  constructor(private readonly pages: RoutingPages) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Query() parts: Readonly<Record<string, unknown>>): Promise<Page> {
    return this.pages.show(visitor, parts);
  }
}
