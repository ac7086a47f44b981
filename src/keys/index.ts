// API keys: creation, import, changes, budgets and networks; authentication of a secret, or of a JWT (token-issuers/);
// the headers that carry a key; the guard of /v1; throttling of invalid keys; notices of unusual use (watch/). `used`
// and `held` are written by relay/billing.
export {
  type ApiKey,
  type CreatedApiKey,
  KEY_NAME,
  type KeyDescription,
  type KeySettings,
  MAX_KEY_NAME,
  type NewApiKey,
  type OwnedKey,
  possibleBudgets,
  possibleNetworks,
  type SharedKeyChange,
} from './api-key.js';
export {
  BudgetNotPossible,
  GroupNotOffered,
  InvalidKeyName,
  KeyChangedMeanwhile,
  KeyIsDeleted,
  KeyNotFound,
  KeysNotChanged,
  ModelNotOffered,
  NetworksNotPossible,
  QuotaNotPossible,
  SecretAlreadyKnown,
  SecretNotImportable,
} from './api-key.errors.js';
export { ApiKeyGuard, KeyAuthenticator } from './api-key.guard.js';
export { ApiKeyService } from './api-key.service.js';
export { belongsTo, type Caller, RefusedAddress, RefusedCaller, RefusedKey } from './caller.js';
export {
  type BudgetChange,
  type BudgetLimits,
  MEMBER_BUDGET_NAMES,
  type MemberBudget,
  type MemberBudgetName,
  type MemberBudgets,
  renderBudgets,
} from './budgets.js';
export { BudgetStore } from './budget-store.js';
export { KeyHolders, type KeyTeam } from './key-holders.js';
export { KeyDirectory } from './key-directory.js';
export { type KeysOf, MemberKeys, Memberships, OwnsOrganizations } from './member-keys.js';
export { KeysModule } from './keys.module.js';
export { KEY_CONDITIONS, type KeyCondition, type KeyFilter, type KeyPage, type OwnKey } from './own-key.js';
export { OwnKeys, PAGE_KEYS } from './own-keys.service.js';
export { InvalidKeyLimits } from './invalid-key-throttle.js';
export { type KeyNotice, KeyNotices } from './watch/key-notices.js';
export {
  ACCOUNT_MATCHES,
  DEFAULT_ALGORITHMS,
  DEFAULT_LIFETIME_HOURS,
  type AccountMatch,
  type NewTokenIssuer,
  TOKEN_ALGORITHMS,
  TOKEN_HOLDERS,
  type TokenHolder,
  type TokenIssuer,
  TokenIssuerChangedMeanwhile,
  type TokenIssuerIdentity,
  type TokenIssuerSettings,
} from './token-issuers/token-issuer.js';
export { IssuerKeyTimings } from './token-issuers/issuer-keys.js';
export { type OrganizationChoice, TokenIssuers } from './token-issuers/token-issuers.service.js';
export { KeyWatch, KeyWatchTimings } from './watch/key-watch.js';
export { isImportable } from './credentials.js';
export { networksOf } from './networks.js';
