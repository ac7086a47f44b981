// Accounts: addresses, passwords, roles, whether they may be used. Does not own their wallets and keys: an account with
// its wallet is made by onboarding, in one transaction.
export { AccountExists, AccountNotFound, InvalidAccount } from './account.errors.js';
export { AccountService, type PreparedAccount } from './account.service.js';
export type { Account, AccountState, CreatedAccount, NewAccount } from './account.js';
export { AuthModule } from './auth.module.js';
export { generatePassword } from './password.js';
