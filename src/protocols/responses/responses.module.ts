import { Module } from '@nestjs/common';
import { RelayModule } from '../../relay/index.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesProtocol } from './responses.protocol.js';
import { ResponsesUpstream } from './responses.upstream.js';

@Module({
  imports: [RelayModule],
  controllers: [ResponsesController],
  providers: [ResponsesProtocol, ResponsesUpstream],
})
export class ResponsesModule {}
