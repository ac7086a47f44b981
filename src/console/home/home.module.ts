import { Controller, Get, Header, Injectable, Module, Query } from '@nestjs/common';
import type { Visit, Visitor } from '../../auth/index.js';
import { CatalogModule, Offer } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { Clock } from '../../platform/shared/index.js';
import { AdapterRegistry, RelayModule } from '../../relay/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule, Public } from '../access/index.js';
import { UsagePagesModule } from '../usage/index.js';
import { CurrentVisit, Page, Redirect } from '../web/index.js';
import { DashboardPages } from './dashboard/dashboard.pages.js';
import { DocsController } from './docs/docs.controller.js';
import { protocolEndpoints } from './endpoints.js';
import { landingView } from './landing/landing.view.js';
import { PricingController, PricingPages } from './pricing/pricing.controller.js';
import { ResponseCounting, StatusController, StatusPages } from './status/status.controller.js';
import { TermsController } from './terms/terms.controller.js';

/** The page at the address itself: what is offered here, or how one's own things stand. */
@Injectable()
class HomePages {
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

/** The address itself, for people: programs that ask there are answered as probes (relay). */
@Controller()
@Public()
class HomeController {
  constructor(private readonly pages: HomePages) {}

  /** @param days how many days of spending whoever is signed in looks at */
  @Get()
  @Header('vary', 'accept')
  home(@CurrentVisit() { visitor }: Visit, @Query('days') days?: unknown): Promise<Page | Redirect> | Page {
    return visitor === undefined ? this.pages.landing() : this.pages.own(visitor, days);
  }
}

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, RelayModule, SettingsModule, UsagePagesModule, WalletModule],
  controllers: [HomeController, DocsController, PricingController, StatusController, TermsController],
  providers: [ResponseCounting, DashboardPages, HomePages, PricingPages, StatusPages],
})
export class HomeModule {}
