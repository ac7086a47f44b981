import { Injectable } from '@nestjs/common';
import { Offer } from '../../catalog/index.js';
import { AdapterRegistry } from '../../relay/index.js';
import { Clock } from '../../platform/shared/index.js';
import { Page, Redirect } from '../web/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import { type Visitor } from '../../auth/index.js';
import { DashboardPages } from './dashboard/dashboard.pages.js';
import { protocolEndpoints } from './protocol-endpoints.js';
import { landingView } from './landing/landing.view.js';

/** The page at the address itself: what is offered here, or how one's own things stand. */
@Injectable()
export class HomePages {
  constructor(
    private readonly offer: Offer,
    private readonly adapters: AdapterRegistry,
    private readonly address: BaseAddress,
    private readonly dashboard: DashboardPages,
    private readonly clock: Clock,
  ) {}

  landing(): Page {
    const group = this.offer.groupsFor(undefined)[0];
    const data = landingView({
      group,
      models: group === undefined ? [] : this.offer.modelsOf(group.name),
      dialects: protocolEndpoints(this.adapters.dialects),
      base: this.address.current(),
    });
    return new Page('home/landing', { title: 'One address for every model', width: 'wide', data });
  }

  /** @param days how many days of spending the address asks for */
  async own(visitor: Visitor, days: unknown): Promise<Page | Redirect> {
    if (!visitor.verified) return new Redirect('/verify');
    return this.dashboard.show(visitor, days, this.clock.date());
  }
}
