import { Module } from '@nestjs/common';
import { GeminiProtocol } from './protocol.js';
import { GeminiUpstream } from './upstream.js';

@Module({ providers: [GeminiProtocol, GeminiUpstream] })
export class GeminiModule {}
