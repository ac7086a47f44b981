import { Global, Module } from '@nestjs/common';
import { Clock } from '../shared/index.js';
import { Config } from './config.js';

@Global()
@Module({
  providers: [{ provide: Config, useFactory: () => Config.load() }, Clock],
  exports: [Config, Clock],
})
export class ConfigModule {}
