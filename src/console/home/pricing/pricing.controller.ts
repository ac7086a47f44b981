import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Visit } from '../../../auth/index.js';
import { CatalogService, Offer } from '../../../catalog/index.js';
import { BaseAddress } from '../../../platform/config/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Public } from '../../access/index.js';
import { CurrentVisit, Page } from '../../web/index.js';
import { protocolEndpoints } from '../endpoints.js';
import { modelView } from './model.view.js';
import { priceQuery, pricingView, type QueryParameters } from './pricing.view.js';

@Controller('pricing')
@Public()
export class PricingController {
  constructor(
    private readonly catalog: CatalogService,
    private readonly offer: Offer,
    private readonly adapters: AdapterRegistry,
    private readonly address: BaseAddress,
  ) {}

  @Get()
  list(@CurrentVisit() { visitor }: Visit, @Query() parameters: QueryParameters): Page {
    const query = priceQuery(parameters);
    const groups = this.offer.groupsFor(visitor);
    const group = groups.find(({ name }) => name === query.group) ?? groups[0];
    if (group === undefined) return new Page('home/pricing', { title: 'Pricing' });
    const models = this.offer.modelsOf(group.name);
    const data = pricingView({ groups, group, models, protocols: this.protocols() }, query);
    return new Page('home/pricing', {
      title: 'Pricing',
      description: 'Prices of all models per 1 million tokens: input, cached input and output.',
      data,
    });
  }

  /** Names may contain slashes, raw or as `%2F`. @throws AppError if no group that the viewer may use has the model */
  @Get('*')
  model(@CurrentVisit() { visitor }: Visit, @Param('*') name: string, @Query() parameters: QueryParameters): Page {
    const groups = this.offer.groupsFor(visitor).flatMap((group) => {
      const offered = this.offer.modelsOf(group.name).find(({ model }) => model.name === name);
      return offered === undefined ? [] : [{ group, offered }];
    });
    if (groups.length === 0) throw new AppError('not_found', `Model “${name}” not found.`);
    const data = modelView({
      groups,
      shown: priceQuery(parameters).group,
      protocols: this.protocols(),
      base: this.address.current(),
      upcoming: this.catalog.current().upcoming.filter(({ model }) => model.name === name),
    });
    return new Page('home/model', { title: name, description: data.description, data });
  }

  private protocols() {
    return protocolEndpoints(this.adapters.clientAdapters);
  }
}
