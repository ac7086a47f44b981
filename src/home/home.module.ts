import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { CatalogModule } from '../catalog/index.js';
import { RelayModule } from '../relay/index.js';
import { HomeController } from './home.controller.js';
import { HomePages } from './home.pages.js';

@Module({
  imports: [AuthModule, CatalogModule, RelayModule],
  controllers: [HomeController],
  providers: [HomePages],
})
export class HomeModule {}
