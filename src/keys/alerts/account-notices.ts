import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AlertSettings } from './alert-settings.js';
import { AlertPreferences } from './alert-preferences.js';

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
