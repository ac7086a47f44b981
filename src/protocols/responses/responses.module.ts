import { Module } from '@nestjs/common';
import { RelayModule } from '../../relay/index.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesCountController } from './responses.count.controller.js';
import { ResponsesProtocol } from './responses.protocol.js';
import { StoredResponsesController } from './responses.stored.controller.js';
import { ResponsesUpstream } from './responses.upstream.js';

@Module({
  imports: [RelayModule],
  controllers: [ResponsesController, ResponsesCountController, StoredResponsesController],
  providers: [ResponsesProtocol, ResponsesUpstream],
})
export class ResponsesModule {}
