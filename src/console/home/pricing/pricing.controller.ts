import { Controller, Get, Param, Query } from '@nestjs/common';
import { Public } from '../../access/index.js';
import { CurrentVisit, type Page } from '../../web/index.js';
import { type Visit } from '../../../auth/index.js';
import { priceQuery } from './price-query.js';
import { PricingPages } from './pricing.pages.js';

@Controller('pricing')
@Public()
export class PricingController {
  constructor(private readonly pages: PricingPages) {}

  @Get()
  list(@CurrentVisit() { visitor }: Visit, @Query() query: Readonly<Record<string, unknown>>): Page {
    return this.pages.list(visitor, priceQuery(query));
  }

  /** A model's name may hold slashes, raw or as `%2F`. */
  @Get('*')
  model(
    @CurrentVisit() { visitor }: Visit,
    @Param('*') name: string,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Page {
    return this.pages.model(visitor, name, priceQuery(query).group);
  }
}
