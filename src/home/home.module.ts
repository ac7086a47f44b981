import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { CatalogModule } from '../catalog/index.js';
import { RelayModule } from '../relay/index.js';
import { DocsController } from './docs/docs.controller.js';
import { HomeController } from './home.controller.js';
import { HomePages } from './home.pages.js';
import { PricingController } from './pricing/pricing.controller.js';
import { PricingPages } from './pricing/pricing.pages.js';

@Module({
  imports: [AuthModule, CatalogModule, RelayModule],
  controllers: [HomeController, DocsController, PricingController],
  providers: [HomePages, PricingPages],
})
export class HomeModule {}
