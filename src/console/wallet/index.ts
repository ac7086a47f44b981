// The pages of a wallet: balance, statement, top-ups, payments, redemption codes.
export { exactAmount, MOVEMENT_WORDS } from './top-up-row.js';
export { paymentLabels } from './payment.view.js';
export { WalletPagesModule } from './wallet.controller.js';
