import { Controller, Get, Injectable, Param, Query } from '@nestjs/common';
import type { Visit, Visitor } from '../../../auth/index.js';
import { type CatalogGroup, CatalogService, Offer } from '../../../catalog/index.js';
import { BaseAddress } from '../../../platform/config/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Public } from '../../access/index.js';
import { CurrentVisit, Page } from '../../web/index.js';
import { protocolEndpoints } from '../endpoints.js';
import { modelView } from './model.view.js';
import { type PriceQuery, priceQuery, pricingView } from './pricing.view.js';

/** What can be called and what it costs, for anybody. */
@Injectable()
export class PricingPages {
  constructor(
    private readonly catalog: CatalogService,
    private readonly offer: Offer,
    private readonly adapters: AdapterRegistry,
    private readonly address: BaseAddress,
  ) {}

  list(visitor: Visitor | undefined, query: PriceQuery): Page {
    const groups = this.offer.groupsFor(visitor);
    const group = groups.find(({ name }) => name === query.group) ?? groups[0];
    if (group === undefined) return new Page('home/pricing', { title: 'Pricing' });
    const models = this.offer.modelsOf(group.name);
    const data = pricingView({ groups, group, models, dialects: this.dialects() }, query);
    return new Page('home/pricing', { title: 'Pricing', data });
  }

  /** @throws AppError not_found when no group that the viewer may choose has such a model */
  model(visitor: Visitor | undefined, name: string, groupName: string): Page {
    const groups = this.offer.groupsFor(visitor).flatMap((group) => this.offeredIn(group, name));
    if (groups.length === 0) throw new AppError('not_found', `Model “${name}” not found.`);
    const data = modelView({
      groups,
      shown: groupName,
      dialects: this.dialects(),
      base: this.address.current(),
      upcoming: this.catalog.current().upcoming.filter(({ model }) => model.name === name),
    });
    return new Page('home/model', { title: name, data });
  }

  private offeredIn(group: CatalogGroup, name: string) {
    const offered = this.offer.modelsOf(group.name).find(({ model }) => model.name === name);
    return offered === undefined ? [] : [{ group, offered }];
  }

  private dialects() {
    return protocolEndpoints(this.adapters.dialects);
  }
}

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
