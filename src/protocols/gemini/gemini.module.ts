import { Module } from '@nestjs/common';
import { RelayModule } from '../../relay/index.js';
import { GeminiUpstream } from './gemini.upstream.js';

@Module({ imports: [RelayModule], providers: [GeminiUpstream] })
export class GeminiModule {}
