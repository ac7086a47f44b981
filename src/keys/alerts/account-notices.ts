import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { nanos, type Nanos, ZERO } from '../../platform/shared/index.js';

const COLUMNS = `
  wallet_below AS "walletBelow", quota_percent AS "quotaPercent", quota_used_up AS "quotaUsedUp",
  budget_percent AS "budgetPercent", budget_used_up AS "budgetUsedUp", expiry_days AS "expiryDays",
  new_network AS "newNetwork", unusual_volume AS "unusualVolume"`;

const FIND = `SELECT ${COLUMNS} FROM alert_settings WHERE account_id = $1`;

const SAVE = `
  INSERT INTO alert_settings AS s (account_id, wallet_below, quota_percent, quota_used_up, budget_percent, budget_used_up,
    expiry_days, new_network, unusual_volume)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (account_id) DO UPDATE
    SET (wallet_below, quota_percent, quota_used_up, budget_percent, budget_used_up, expiry_days, new_network, unusual_volume)
      = ROW ($2, $3, $4, $5, $6, $7, $8, $9)`;

type AlertSettingsRow = Omit<AlertSettings, 'walletBelow'> & { readonly walletBelow: string };

/** The alert settings of accounts. */
@Injectable()
export class AlertPreferences {
  constructor(private readonly dataSource: DataSource) {}

  /** Saved settings, else the defaults. */
  async of(accountId: string, manager: EntityManager = this.dataSource.manager): Promise<AlertSettings> {
    const [row] = await manager.query<AlertSettingsRow[]>(FIND, [accountId]);
    return row === undefined ? DEFAULT_ALERTS : { ...row, walletBelow: nanos(BigInt(row.walletBelow)) };
  }

  async save(accountId: string, settings: AlertSettings): Promise<void> {
    await this.dataSource.query(SAVE, [
      accountId,
      ...thresholdsOf(settings),
      settings.newNetwork,
      settings.unusualVolume,
    ]);
  }
}

/** In the order of the columns and of the query's parameters. */
export const thresholdsOf = (settings: AlertSettings): readonly unknown[] => [
  settings.walletBelow,
  settings.quotaPercent,
  settings.quotaUsedUp,
  settings.budgetPercent,
  settings.budgetUsedUp,
  settings.expiryDays,
];

/** One-time notices, and the setting that switches each of them off. */
const SWITCHES = {
  'new-network': 'newNetwork',
  'unusual-volume': 'unusualVolume',
} as const satisfies Readonly<Record<string, keyof AlertSettings>>;

export type NoticeKind = keyof typeof SWITCHES;

/** Text of an email: plain text in whole sentences. */
export interface AccountNoticeText {
  /** A single line. */
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Key figures, shown prominently. */
  readonly figures?: readonly { readonly label: string; readonly value: string }[];
  /** The only button; its path is relative to the service, such as `/keys/key_…`. */
  readonly button: { readonly label: string; readonly path: string };
}

/** Something that happened to a key. */
export interface AccountNotice {
  readonly kind: NoticeKind;
  readonly accountId: string;
  readonly keyId: string;
  /** Identifies the notice among those of its kind and key: the network, or the hour. */
  readonly occasion: string;
  readonly words: AccountNoticeText;
}

/** Notices are recorded even while they are disabled, so that they are not emailed when enabled later. */
const RAISE = `
  INSERT INTO alerts (account_id, kind, key_id, occasion, facts, state)
  VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 THEN 'due' ELSE 'unneeded' END)
  ON CONFLICT ON CONSTRAINT alert_is_raised_once DO NOTHING RETURNING id`;

/** Emails notices, once per occasion, across all processes. */
@Injectable()
export class AccountNotices {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: AlertPreferences,
  ) {}

  /**
   * Records a notice; the email follows within seconds, unless the account has switched it off.
   * @param manager transaction it belongs to; nothing is emailed before its commit
   * @returns false if it was raised before
   */
  async raise(notice: AccountNotice, manager: EntityManager = this.dataSource.manager): Promise<boolean> {
    const { accountId, kind, keyId, occasion, words } = notice;
    const wanted = (await this.settings.of(accountId, manager))[SWITCHES[kind]];
    const rows = await manager.query<unknown[]>(RAISE, [
      accountId,
      kind,
      keyId,
      occasion,
      JSON.stringify({ words }),
      wanted,
    ]);
    return rows.length === 1;
  }
}

/** When an account is alerted by email. 0: never. */
export interface AlertSettings {
  /** Balance in nano-dollars. */
  readonly walletBelow: Nanos;
  /** Used share of a key's quota, in percent, up to 99. */
  readonly quotaPercent: number;
  readonly quotaUsedUp: boolean;
  /** The same for daily, weekly and monthly budgets. */
  readonly budgetPercent: number;
  readonly budgetUsedUp: boolean;
  /** Days before a key expires, up to 365. */
  readonly expiryDays: number;
  readonly newNetwork: boolean;
  readonly unusualVolume: boolean;
}

/**
 * Defaults until an account saves its own. Quotas, budgets and expiry dates are set on purpose, so alerts about them
 * are on. What counts as a low balance differs a thousandfold between accounts, so there is no default; the page
 * suggests one from recent spending.
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
