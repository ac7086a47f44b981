import { Controller, Get, Header, Module, Query } from '@nestjs/common';
import type { Visit } from '../../auth/index.js';
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
import { DashboardPage } from './dashboard/dashboard.page.js';
import { DocsController } from './docs/docs.controller.js';
import { protocolEndpoints } from './endpoints.js';
import { landingView } from './landing.view.js';
import { PricingController } from './pricing/pricing.controller.js';
import { ResponseCounting, StatusController } from './status.controller.js';
import { TermsController } from './terms.controller.js';

/** `/`: the landing page, or the dashboard of a signed-in user. Probes of programs are handled by the relay. */
@Controller()
@Public()
class HomeController {
  constructor(
    private readonly offer: Offer,
    private readonly adapters: AdapterRegistry,
    private readonly address: BaseAddress,
    private readonly dashboard: DashboardPage,
    private readonly clock: Clock,
  ) {}

  /** @param days days of spending on the dashboard */
  @Get()
  @Header('vary', 'accept')
  async home(@CurrentVisit() { visitor }: Visit, @Query('days') days?: unknown): Promise<Page | Redirect> {
    if (visitor === undefined) return this.landing();
    if (!visitor.verified) return new Redirect('/verify');
    return this.dashboard.show(visitor, days, this.address.current(), this.clock.date());
  }

  private landing(): Page {
    const group = this.offer.groupsFor(undefined)[0];
    const data = landingView({
      group,
      models: group === undefined ? [] : this.offer.modelsOf(group.name),
      protocols: protocolEndpoints(this.adapters.clientAdapters),
      base: this.address.current(),
    });
    const description =
      'Call language models with one address and one API key, in the protocols your tools already use. Every call shows its exact cost.';
    return new Page('home/landing', { title: 'One address for every model', description, width: 'wide', data });
  }
}

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, RelayModule, SettingsModule, UsagePagesModule, WalletModule],
  controllers: [HomeController, DocsController, PricingController, StatusController, TermsController],
  providers: [DashboardPage, ResponseCounting],
})
export class HomeModule {}
