import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { CatalogModule } from '../../../catalog/index.js';
import { KeysModule } from '../../../keys/index.js';
import { RelayModule } from '../../../relay/index.js';
import { RoutingController } from './routing.controller.js';
import { RoutingPages } from './routing.pages.js';

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, RelayModule],
  controllers: [RoutingController],
  providers: [RoutingPages],
})
export class RoutingPagesModule {}
