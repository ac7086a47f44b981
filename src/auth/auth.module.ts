import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailModule } from '../mail/index.js';
import { SettingsModule } from '../settings/index.js';
import { WebModule } from '../web/index.js';
import { AccountController } from './account-pages/account.controller.js';
import { AccountPasswordController } from './account-pages/account-password.controller.js';
import { AccountSessionsController } from './account-pages/account-sessions.controller.js';
import { OwnPasswordController } from './account-pages/own-password.controller.js';
import { AccountEntity } from './account.entity.js';
import { AccountRepository } from './account.repository.js';
import { AccountService } from './account.service.js';
import { AccountStanding } from './account-standing.js';
import { OwnPassword } from './sign-in/own-password.js';
import { RecentSignIn } from './sign-in/recent-sign-in.js';
import { AccountMails } from './mails/account-mails.js';
import { MailWriter } from './mails/mail-writer.js';
import { Passwords } from './passwords.js';
import { PreferencesController } from './preferences.controller.js';
import { SecurityLog } from './security-log.js';
import { SessionEntity } from './sessions/session.entity.js';
import { SessionRepository } from './sessions/session.repository.js';
import { SessionService } from './sessions/session.service.js';
import { BrowserSignIn } from './sign-in/browser-sign-in.js';
import { PasswordChange } from './sign-in/password-change.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { SignIn } from './sign-in/sign-in.service.js';
import { PostgresThrottlerStorage } from './throttle/postgres-throttler.storage.js';
import { Throttle } from './throttle/throttle.js';
import { TimeZones } from './time-zones.js';
import { ProofRequests } from './verification/proof-requests.js';
import { VerificationRepository } from './verification/verification.repository.js';
import { Verifications } from './verification/verification.service.js';

const PROVIDED = [
  AccountService,
  AccountStanding,
  SessionService,
  Throttle,
  Passwords,
  SignIn,
  BrowserSignIn,
  PasswordChange,
  RecentSignIn,
  SecurityLog,
  Verifications,
  AccountMails,
  MailWriter,
  ProofRequests,
  TimeZones,
];

@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, SessionEntity]), MailModule, SettingsModule, WebModule],
  controllers: [
    PreferencesController,
    SignInController,
    AccountController,
    AccountPasswordController,
    AccountSessionsController,
    OwnPasswordController,
  ],
  providers: [
    AccountRepository,
    SessionRepository,
    PostgresThrottlerStorage,
    VerificationRepository,
    OwnPassword,
    ...PROVIDED,
  ],
  exports: [WebModule, ...PROVIDED],
})
export class AuthModule {}
