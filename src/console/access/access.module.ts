import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/index.js';
import { WebModule } from '../web/index.js';
import { BrowserSignIn } from './browser-sign-in.js';

/** What every module with pages imports. */
@Module({
  imports: [AuthModule, WebModule],
  providers: [BrowserSignIn],
  exports: [AuthModule, WebModule, BrowserSignIn],
})
export class AccessModule {}
