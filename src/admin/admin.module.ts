import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';

@Module({ imports: [AuthModule] })
export class AdminModule {}
