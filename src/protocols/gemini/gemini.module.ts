import { Module } from '@nestjs/common';
import { GeminiUpstream } from './upstream.js';

@Module({ providers: [GeminiUpstream] })
export class GeminiModule {}
