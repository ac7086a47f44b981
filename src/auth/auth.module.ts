import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailModule } from '../platform/mail/index.js';
import { SettingsModule } from '../platform/settings/index.js';
import { AccountStatus, SignInMethods } from './account-status.js';
import { TimeZones } from './account.js';
import { AccountEntity, AccountRepository } from './account.repository.js';
import { AccountService } from './account.service.js';
import { AccountMails, MailWriter } from './mails/account-mails.js';
import { Passwords } from './passwords.js';
import { PasskeyCeremonies } from './passkeys/passkey-ceremonies.js';
import { PasskeyChallenges } from './passkeys/passkey-challenges.js';
import { PasskeyRepository } from './passkeys/passkey.repository.js';
import { Passkeys, PasskeySignIn } from './passkeys/passkeys.service.js';
import { LinkedIdentities, PendingIdentities } from './providers/linked-identities.js';
import { AccountMapping } from './providers/account-mapping.js';
import { OpenidClient } from './providers/openid-client.js';
import { ProviderHttp } from './providers/provider-http.js';
import { ProviderLogout, ProviderSessions } from './providers/provider-sessions.js';
import { ProviderAttempts, ProviderSignIn } from './providers/provider-sign-in.js';
import { SignInProviders } from './providers/sign-in-providers.js';
import { FactorSetUp, OwnSecondFactor, SecondFactorRemoval } from './second-factor/factor-set-up.js';
import { FactorSecrets, SecondFactorCheck, SecondFactorMails } from './second-factor/second-factor-check.js';
import { SecondFactorRepository } from './second-factor/second-factor.repository.js';
import { SecondFactors } from './second-factor/second-factors.service.js';
import { SessionEntity, SessionRepository } from './sessions/session.repository.js';
import { SessionService } from './sessions/session.service.js';
import { OwnPassword, PasswordChange } from './sign-in/password-change.js';
import { PasswordPolicy } from './sign-in/password-policy.js';
import { RecentSignIn, SignIn } from './sign-in/sign-in.service.js';
import { PostgresThrottlerStorage, Throttle } from './throttle/throttle.js';
import { VerificationRepository } from './verification/verification.repository.js';
import { VerificationMailer, Verifications } from './verification/verification.service.js';
import { SecurityLog } from './visit.js';

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
  VerificationMailer,
  TimeZones,
  OwnPassword,
  FactorSetUp,
  OwnSecondFactor,
  SecondFactorCheck,
  ProviderHttp,
  SignInProviders,
  ProviderSignIn,
  LinkedIdentities,
  PendingIdentities,
  AccountMapping,
  ProviderSessions,
  ProviderLogout,
  PasswordPolicy,
  Passkeys,
  PasskeySignIn,
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
    PasskeyCeremonies,
    PasskeyChallenges,
    PasskeyRepository,
    OpenidClient,
    ProviderAttempts,
    ...PROVIDED,
  ],
  exports: PROVIDED,
})
export class AuthModule {}
