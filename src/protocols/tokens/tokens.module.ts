import { Module } from '@nestjs/common';
import { TokenCounter } from './token-counter.js';
import { TokenThread } from './token-thread.js';

@Module({ providers: [TokenCounter, TokenThread], exports: [TokenCounter] })
export class TokensModule {}
