import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailModule } from '../platform/mail/index.js';
import { SettingsModule } from '../platform/settings/index.js';
import { AccountEntity } from './account.entity.js';
import { AccountRepository } from './account.repository.js';
import { AccountService } from './account.service.js';
import { AccountStatus } from './account-status.js';
import { OwnPassword } from './sign-in/own-password.js';
import { RecentSignIn } from './sign-in/recent-sign-in.js';
import { AccountMails } from './mails/account-mails.js';
import { MailWriter } from './mails/mail-writer.js';
import { Passwords } from './passwords.js';
import { SecurityLog } from './security-log.js';
import { FactorSecrets } from './second-factor/factor-secrets.js';
import { FactorSetUp } from './second-factor/factor-set-up.js';
import { OwnSecondFactor } from './second-factor/own-second-factor.js';
import { SecondFactorCheck } from './second-factor/second-factor-check.js';
import { SecondFactorMails } from './second-factor/second-factor-mails.js';
import { SecondFactorRemoval } from './second-factor/second-factor-removal.js';
import { SecondFactorRepository } from './second-factor/second-factor.repository.js';
import { SecondFactors } from './second-factor/second-factors.service.js';
import { SessionEntity } from './sessions/session.entity.js';
import { SessionRepository } from './sessions/session.repository.js';
import { SessionService } from './sessions/session.service.js';
import { PasswordChange } from './sign-in/password-change.js';
import { SignIn } from './sign-in/sign-in.service.js';
import { PostgresThrottlerStorage } from './throttle/postgres-throttler.storage.js';
import { Throttle } from './throttle/throttle.js';
import { TimeZones } from './time-zones.js';
import { ProofRequests } from './verification/proof-requests.js';
import { VerificationRepository } from './verification/verification.repository.js';
import { Verifications } from './verification/verification.service.js';
import { SignInMethods } from './sign-in-methods.js';

const PROVIDED = [
  SecondFactors,
  SecondFactorRemoval,
  AccountService,
  AccountStatus,
  SessionService,
  Throttle,
  Passwords,
  SignIn,
  PasswordChange,
  RecentSignIn,
  SecurityLog,
  Verifications,
  AccountMails,
  MailWriter,
  ProofRequests,
  TimeZones,
  OwnPassword,
  FactorSetUp,
  OwnSecondFactor,
  SecondFactorCheck,
];

@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, SessionEntity]), MailModule, SettingsModule],
  providers: [
    AccountRepository,
    SessionRepository,
    PostgresThrottlerStorage,
    VerificationRepository,
    SignInMethods,
    FactorSecrets,
    SecondFactorMails,
    SecondFactorRepository,
    ...PROVIDED,
  ],
  exports: PROVIDED,
})
export class AuthModule {}
