import { Module } from '@nestjs/common';
import { apiControllers, RelayModule } from '../../../src/relay/index.js';
import { TelegraphProtocol } from './protocol.js';
import { TelegraphUpstream } from './upstream.js';

@Module({
  imports: [RelayModule],
  controllers: [...apiControllers(new TelegraphProtocol())],
  providers: [TelegraphProtocol, TelegraphUpstream],
})
export class TelegraphModule {}
