import { Global, Module } from '@nestjs/common';
import { Clock } from '../shared/index.js';
import { BaseAddress } from './base-address.js';
import { Config } from './config.js';

@Global()
@Module({
  providers: [{ provide: Config, useFactory: () => Config.load() }, BaseAddress, Clock],
  exports: [BaseAddress, Config, Clock],
})
export class ConfigModule {}
