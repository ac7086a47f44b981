import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { nanos } from '../../platform/shared/index.js';
import { type AlertSettings, DEFAULT_ALERTS } from './alert-settings.js';

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
