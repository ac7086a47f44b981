import { Controller, Get, Query } from '@nestjs/common';
import { Operator } from '../../access/index.js';
import { CurrentVisitor, type Page } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { OverviewPages } from './overview.pages.js';

@Operator()
@Controller('admin')
export class OverviewController {
  constructor(private readonly pages: OverviewPages) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Query('range') range: unknown): Promise<Page> {
    return this.pages.show(visitor, range);
  }
}
