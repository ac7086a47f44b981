import { type Nanos, ZERO } from '../../platform/shared/index.js';

/** What an account is warned of by mail. 0: never. */
export interface AlertSettings {
  /** A balance below this, in nano-dollars. */
  readonly walletBelow: Nanos;
  /** So much of a key's quota is used, in percent; 99 at most. */
  readonly quotaPercent: number;
  readonly quotaUsedUp: boolean;
  /** The same of its budgets of a day, a week, a month. */
  readonly budgetPercent: number;
  readonly budgetUsedUp: boolean;
  /** So many days before a key expires; 365 at most. */
  readonly expiryDays: number;
  readonly newNetwork: boolean;
  readonly unusualVolume: boolean;
}

/**
 * What holds until an account saves its own. Whoever sets a quota, a budget or an expiry has said what to be warned of.
 * What a low balance is differs a thousandfold between accounts, and one that was never funded has none at all: so there
 * is no threshold for it, and the page suggests one from what is spent.
 */
export const DEFAULT_ALERTS: AlertSettings = {
  walletBelow: ZERO,
  quotaPercent: 80,
  quotaUsedUp: true,
  budgetPercent: 80,
  budgetUsedUp: true,
  expiryDays: 7,
  newNetwork: true,
  unusualVolume: true,
};
