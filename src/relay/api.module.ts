import { Module } from '@nestjs/common';
import * as protocolModules from '../protocols/index.js';
import { adaptersIn } from './adapter.registry.js';
import { apiControllers } from './api-controllers.js';
import { RelayModule } from './relay.module.js';
import { StoredResponsesController } from './stored-responses.controller.js';

const modules = Object.values(protocolModules);

/** All protocols with their endpoints. */
@Module({
  imports: [...modules, RelayModule],
  controllers: [...[...adaptersIn(modules).protocols.values()].flatMap(apiControllers), StoredResponsesController],
  exports: [RelayModule],
})
export class ApiModule {}
