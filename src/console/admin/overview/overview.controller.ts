import { Controller, Get, Query } from '@nestjs/common';
import { Operator } from '../../../auth/index.js';
import { CurrentVisitor, type Page, type Visitor } from '../../web/index.js';
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
