import { CreateSchema20261120120000 } from './20261120120000-create-schema.js';
import { CreateCalls20261120120100 } from './20261120120100-create-calls.js';
import { CreateBillingFunctions20261120120200 } from './20261120120200-create-billing-functions.js';
import { ExtendBilling20261122120000 } from './20261122120000-extend-billing.js';
import { ExtendHolds20261122120010 } from './20261122120010-extend-holds.js';
import { RenewSettlement20261122120020 } from './20261122120020-renew-settlement.js';
import { CreateProcesses20261122120100 } from './20261122120100-create-processes.js';
import { CreateRedemptionCodes20261122120200 } from './20261122120200-create-redemption-codes.js';
import { RefineCatalog20261122120300 } from './20261122120300-refine-catalog.js';
import { CreateSessions20261122130000 } from './20261122130000-create-sessions.js';
import { CreateVerifications20261122130100 } from './20261122130100-create-verifications.js';
import { SumUpUsage20261122130200 } from './20261122130200-sum-up-usage.js';
import { IndexCallsByKey20261122130300 } from './20261122130300-index-calls-by-key.js';
import { AddKeySwitches20261122141000 } from './20261122141000-add-key-switches.js';
import { CreateStoredAnswers20261122141100 } from './20261122141100-create-stored-answers.js';
import { CreateChannelRests20261122200000 } from './20261122200000-create-channel-rests.js';
import { NoteCredentialsOfAnswers20261122200010 } from './20261122200010-note-credentials-of-answers.js';
import { RecordAttempts20261122200100 } from './20261122200100-record-attempts.js';
import { LimitGroups20261122200200 } from './20261122200200-limit-groups.js';
import { LimitKeys20261122200210 } from './20261122200210-limit-keys.js';
import { CreateNamedCalls20261122200300 } from './20261122200300-create-named-calls.js';
import { NameCredentialHeaders20261122210000 } from './20261122210000-name-credential-headers.js';
import { CreateAuditLog20261123000000 } from './20261123000000-create-audit-log.js';
import { KeepSumsOfDroppedCalls20261123010000 } from './20261123010000-keep-sums-of-dropped-calls.js';
import { RecordUpstreamCosts20261123020000 } from './20261123020000-record-upstream-costs.js';
import { ExtendAccounts20261123030000 } from './20261123030000-extend-accounts.js';
import { CreateSettings20261123040000 } from './20261123040000-create-settings.js';
import { DeleteChannels20261123050000 } from './20261123050000-delete-channels.js';
import { TellPriceChanges20261123060000 } from './20261123060000-tell-price-changes.js';
import { NameOwnersInAuditLog20261123070000 } from './20261123070000-name-owners-in-audit-log.js';
import { IndexDroppedMonths20261123080000 } from './20261123080000-index-dropped-months.js';
import { RollUpUsage20261123090000 } from './20261123090000-roll-up-usage.js';
import { RecordTimesOfCalls20261123100000 } from './20261123100000-record-times-of-calls.js';
import { DivideSettlement20261123100010 } from './20261123100010-divide-settlement.js';
import { CreateAlerts20261123110000 } from './20261123110000-create-alerts.js';
import { CreateAllowances20261123120000 } from './20261123120000-create-allowances.js';
import { CreatePayments20261123130000 } from './20261123130000-create-payments.js';
import { SumUpKeyUses20261123140000 } from './20261123140000-sum-up-key-uses.js';
import { WatchKeys20261123140010 } from './20261123140010-watch-keys.js';
import { CreateSecondFactors20261123150000 } from './20261123150000-create-second-factors.js';
import { KeepPaymentSettings20261123160000 } from './20261123160000-keep-payment-settings.js';
import { InlineLatencyHistograms20261123170000 } from './20261123170000-inline-latency-histograms.js';
import { LookAtAccountsInTurn20261123180000 } from './20261123180000-look-at-accounts-in-turn.js';
import { SumUpChannels20261124110000 } from './20261124110000-sum-up-channels.js';
import { ForgetReversalsOfStrangers20261124120000 } from './20261124120000-forget-reversals-of-strangers.js';
import { RecheckNewKeys20261124150000 } from './20261124150000-recheck-new-keys.js';
import { StampLedgerEntries20261124160000 } from './20261124160000-stamp-ledger-entries.js';
import { KeepUpstreamReports20261125160000 } from './20261125160000-keep-upstream-reports.js';
import { CreateUpstreamStates20261125200000 } from './20261125200000-create-upstream-states.js';
import { CountAllowancesWithoutClocks20261125210000 } from './20261125210000-count-allowances-without-clocks.js';
import { CreateSqlChecksums20261126120000 } from './20261126120000-create-sql-checksums.js';
import { RecordOutputLimits20261127090000 } from './20261127090000-record-output-limits.js';
import { DropRecordCalls20261127170000 } from './20261127170000-drop-record-calls.js';
import { CreateBackgroundResponses20261128090000 } from './20261128090000-create-background-responses.js';
import { CreateConversations20261128100000 } from './20261128100000-create-conversations.js';
import { RecordTransports20261128120000 } from './20261128120000-record-transports.js';
import { CreateSignInProviders20261128140000 } from './20261128140000-create-sign-in-providers.js';
import { CreateOrganizations20261128200000 } from './20261128200000-create-organizations.js';
import { CreatePasskeys20261128210000 } from './20261128210000-create-passkeys.js';
import { AddProviderKinds20261128210010 } from './20261128210010-add-provider-kinds.js';
import { KeepOrganizationSettings20261128220000 } from './20261128220000-keep-organization-settings.js';
import { ExtendSignInProviders20261128220500 } from './20261128220500-extend-sign-in-providers.js';
import { CreateTokenIssuers20261128230000 } from './20261128230000-create-token-issuers.js';
import { RememberFormerMembers20261128240000 } from './20261128240000-remember-former-members.js';

export const migrations = [
  CreateSchema20261120120000,
  CreateCalls20261120120100,
  CreateBillingFunctions20261120120200,
  ExtendBilling20261122120000,
  ExtendHolds20261122120010,
  RenewSettlement20261122120020,
  CreateProcesses20261122120100,
  CreateRedemptionCodes20261122120200,
  RefineCatalog20261122120300,
  CreateSessions20261122130000,
  CreateVerifications20261122130100,
  SumUpUsage20261122130200,
  IndexCallsByKey20261122130300,
  AddKeySwitches20261122141000,
  CreateStoredAnswers20261122141100,
  CreateChannelRests20261122200000,
  NoteCredentialsOfAnswers20261122200010,
  RecordAttempts20261122200100,
  LimitGroups20261122200200,
  LimitKeys20261122200210,
  CreateNamedCalls20261122200300,
  NameCredentialHeaders20261122210000,
  CreateAuditLog20261123000000,
  KeepSumsOfDroppedCalls20261123010000,
  RecordUpstreamCosts20261123020000,
  ExtendAccounts20261123030000,
  CreateSettings20261123040000,
  DeleteChannels20261123050000,
  TellPriceChanges20261123060000,
  NameOwnersInAuditLog20261123070000,
  IndexDroppedMonths20261123080000,
  RollUpUsage20261123090000,
  RecordTimesOfCalls20261123100000,
  DivideSettlement20261123100010,
  CreateAlerts20261123110000,
  CreateAllowances20261123120000,
  CreatePayments20261123130000,
  SumUpKeyUses20261123140000,
  WatchKeys20261123140010,
  CreateSecondFactors20261123150000,
  KeepPaymentSettings20261123160000,
  InlineLatencyHistograms20261123170000,
  LookAtAccountsInTurn20261123180000,
  SumUpChannels20261124110000,
  ForgetReversalsOfStrangers20261124120000,
  RecheckNewKeys20261124150000,
  StampLedgerEntries20261124160000,
  KeepUpstreamReports20261125160000,
  CreateUpstreamStates20261125200000,
  CountAllowancesWithoutClocks20261125210000,
  CreateSqlChecksums20261126120000,
  RecordOutputLimits20261127090000,
  DropRecordCalls20261127170000,
  CreateBackgroundResponses20261128090000,
  CreateConversations20261128100000,
  RecordTransports20261128120000,
  CreateSignInProviders20261128140000,
  CreateOrganizations20261128200000,
  CreatePasskeys20261128210000,
  AddProviderKinds20261128210010,
  KeepOrganizationSettings20261128220000,
  ExtendSignInProviders20261128220500,
  CreateTokenIssuers20261128230000,
  RememberFormerMembers20261128240000,
];
