import { Module } from '@nestjs/common';
import { PrimaryLink } from './primary-link.js';

@Module({ providers: [PrimaryLink], exports: [PrimaryLink] })
export class WorkersModule {}
