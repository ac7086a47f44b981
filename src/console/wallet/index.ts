// The pages of a wallet: balance, statement, top-ups, payments, redemption codes.
export { exactAmount } from './exact-amount.js';
export { paymentLabels } from './payment.view.js';
export { MOVEMENT_WORDS } from './top-up-row.js';
export { WalletPagesModule } from './wallet-pages.module.js';
