import { Module } from '@nestjs/common';
import { ResponsesProtocol } from './responses.protocol.js';
import { ResponsesUpstream } from './responses.upstream.js';

@Module({
  providers: [ResponsesProtocol, ResponsesUpstream],
})
export class ResponsesModule {}
