import { Module } from '@nestjs/common';
import { GeminiUpstream } from './gemini.upstream.js';

@Module({ providers: [GeminiUpstream] })
export class GeminiModule {}
