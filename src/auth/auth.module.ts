import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebModule } from '../web/index.js';
import { AccountEntity } from './account.entity.js';
import { AccountRepository } from './account.repository.js';
import { AccountService } from './account.service.js';
import { PreferencesController } from './preferences.controller.js';
import { SessionEntity } from './sessions/session.entity.js';
import { SessionRepository } from './sessions/session.repository.js';
import { SessionService } from './sessions/session.service.js';
import { PostgresThrottlerStorage } from './throttle/postgres-throttler.storage.js';
import { Throttle } from './throttle/throttle.js';
import { VerificationRepository } from './verification/verification.repository.js';
import { Verifications } from './verification/verification.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, SessionEntity]), WebModule],
  controllers: [PreferencesController],
  providers: [
    AccountRepository,
    AccountService,
    SessionRepository,
    SessionService,
    PostgresThrottlerStorage,
    Throttle,
    VerificationRepository,
    Verifications,
  ],
  exports: [AccountService, SessionService, Throttle, Verifications, WebModule],
})
export class AuthModule {}
