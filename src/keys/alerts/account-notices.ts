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

type Row = Omit<AlertSettings, 'walletBelow'> & { readonly walletBelow: string };

/** What accounts are warned of. */
@Injectable()
export class AlertPreferences {
  constructor(private readonly dataSource: DataSource) {}

  /** What it has saved, else what is usual. */
  async of(accountId: string, manager: EntityManager = this.dataSource.manager): Promise<AlertSettings> {
    const [row] = await manager.query<Row[]>(FIND, [accountId]);
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

/** In the order of the columns, which is that of the look at them. */
export const thresholdsOf = (settings: AlertSettings): readonly unknown[] => [
  settings.walletBelow,
  settings.quotaPercent,
  settings.quotaUsedUp,
  settings.budgetPercent,
  settings.budgetUsedUp,
  settings.expiryDays,
];

/** What can happen once that is told by mail, and the switch of each on the page of alerts. */
const SWITCHES = {
  'new-network': 'newNetwork',
  'unusual-volume': 'unusualVolume',
} as const satisfies Readonly<Record<string, keyof AlertSettings>>;

export type NoticeKind = keyof typeof SWITCHES;

/** What the mail says: plain text, in whole sentences. */
export interface AccountNoticeText {
  /** One line. */
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** What is to be seen at a glance. */
  readonly figures?: readonly { readonly label: string; readonly value: string }[];
  /** The one button; its path is below the address of the service, `/keys/key_…`. */
  readonly button: { readonly label: string; readonly path: string };
}

/** Something that has happened to a key. */
export interface AccountNotice {
  readonly kind: NoticeKind;
  readonly accountId: string;
  readonly keyId: string;
  /** Which of several of its kind and key it is, for ever: the network, the hour. */
  readonly occasion: string;
  readonly words: AccountNoticeText;
}

/** One that is switched off is noted all the same: it is not mailed when it is switched on later. */
const RAISE = `
  INSERT INTO alerts (account_id, kind, key_id, occasion, facts, state)
  VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 THEN 'due' ELSE 'unneeded' END)
  ON CONFLICT ON CONSTRAINT alert_is_raised_once DO NOTHING RETURNING id`;

/** Mails people what has happened, once for each occasion, however many processes see it. */
@Injectable()
export class AccountNotices {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: AlertPreferences,
  ) {}

  /**
   * Notes it; the mail follows within seconds, unless its account has switched these off.
   * @param manager the transaction that it belongs to, if there is one: nothing is mailed before that has committed
   * @returns false when this was raised before
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
