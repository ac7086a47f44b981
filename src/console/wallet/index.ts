// The wallet pages: balance, statement, top-ups, payments, redemption codes.
export { paymentLabels } from './payment.view.js';
export { WalletPagesModule } from './wallet.controller.js';
export { exactAmount, MOVEMENT_LABELS } from './wallet.view.js';
