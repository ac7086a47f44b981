import { Module } from '@nestjs/common';
import { InteractionsUpstream } from './upstream.js';

@Module({
  providers: [InteractionsUpstream],
})
export class InteractionsModule {}
