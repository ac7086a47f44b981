import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { RelayModule } from '../../relay/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { UsagePagesModule } from '../usage/index.js';
import { WalletModule } from '../../wallet/index.js';
import { DashboardPages } from './dashboard/dashboard.pages.js';
import { DocsController } from './docs/docs.controller.js';
import { HomeController } from './home.controller.js';
import { HomePages } from './home.pages.js';
import { PricingController } from './pricing/pricing.controller.js';
import { PricingPages } from './pricing/pricing.pages.js';
import { ResponseCounting } from './status/counted-responses.js';
import { StatusController } from './status/status.controller.js';
import { StatusPages } from './status/status.pages.js';
import { TermsController } from './terms/terms.controller.js';

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, RelayModule, SettingsModule, UsagePagesModule, WalletModule],
  controllers: [HomeController, DocsController, PricingController, StatusController, TermsController],
  providers: [ResponseCounting, DashboardPages, HomePages, PricingPages, StatusPages],
})
export class HomeModule {}
