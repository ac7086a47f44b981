import { Module } from '@nestjs/common';
import { ResponsesProtocol } from './protocol.js';
import { ResponsesUpstream } from './upstream.js';

@Module({
  providers: [ResponsesProtocol, ResponsesUpstream],
})
export class ResponsesModule {}
