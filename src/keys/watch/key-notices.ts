import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { nanos, type Nanos, newId } from '../../platform/shared/index.js';
import type { Owner } from '../../auth/index.js';
import type { OwnedKey } from '../api-key.js';

/** A notice is shown this long unless acknowledged. */
const DISPLAY_DAYS = 30;
/** Max notices per account. */
const MAX_NOTICES = 20;

interface NoticeRow {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly timeZone: string;
  readonly kind: KeyNotice['kind'];
  readonly occasion: string;
  readonly at: Date;
  readonly address: string | null;
  readonly network: string | null;
  readonly spent: string | null;
  readonly usual: string | null;
}

const SELECT = `
  SELECT n.id, n.account_id AS "accountId", n.key_id AS "keyId", k.name AS "keyName", a.time_zone AS "timeZone", n.kind, n.occasion, n.at, n.address,
         n.network, n.spent, n.usual
    FROM key_notices n JOIN api_keys k ON k.id = n.key_id JOIN accounts a ON a.id = n.account_id`;

/** Disabling or deleting the key acknowledges its notices. */
const OPEN = `
  ${SELECT} WHERE n.account_id = $1 AND ($2::text IS NULL OR k.member_id = $2) AND ($3::text IS NULL OR n.key_id = $3)
     AND n.acknowledged_at IS NULL
     AND k.state = 'enabled' AND n.created_at > now() - interval '${DISPLAY_DAYS} days'
   ORDER BY n.at DESC, n.id DESC LIMIT ${MAX_NOTICES}`;

const SINCE = `${SELECT} WHERE n.created_at >= $1 AND k.state = 'enabled' ORDER BY n.created_at, n.id`;

const ADD = `
  INSERT INTO key_notices (id, account_id, key_id, kind, occasion, at, address, network, spent, usual)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT ON CONSTRAINT key_notice_is_told_once DO NOTHING`;

const ACKNOWLEDGE = `
  UPDATE key_notices SET acknowledged_at = now()
   WHERE id = $1 AND account_id = $2 AND key_id = $3 AND acknowledged_at IS NULL`;

const NOTIFIED_OF_VOLUME = `
  SELECT DISTINCT key_id AS id FROM key_notices
   WHERE key_id = ANY ($1) AND kind = 'unusual-volume' AND created_at > now() - interval '1 day'`;

const DELETE_NETWORKS = 'DELETE FROM key_networks WHERE key_id IN (SELECT id FROM api_keys WHERE account_id = $1)';

/** Notices about keys. */
@Injectable()
export class KeyNotices {
  constructor(private readonly dataSource: DataSource) {}

  /** Unacknowledged notices of an owner's keys or of one of them, newest first. */
  async open({ accountId, memberId }: Owner, keyId?: string): Promise<readonly KeyNotice[]> {
    return (await this.dataSource.query<NoticeRow[]>(OPEN, [accountId, memberId ?? null, keyId ?? null])).map(noticeOf);
  }

  /** Notices added since then, oldest first, including acknowledged ones: for emails. */
  async addedSince(time: Date): Promise<readonly KeyNotice[]> {
    return (await this.dataSource.query<NoticeRow[]>(SINCE, [time.toISOString()])).map(noticeOf);
  }

  /** Idempotent. The key must be the owner's. */
  async acknowledge({ accountId, id }: OwnedKey, noticeId: string): Promise<void> {
    await this.dataSource.query(ACKNOWLEDGE, [noticeId, accountId, id]);
  }

  /** Idempotent. */
  async add(notice: NewKeyNotice, manager: EntityManager): Promise<void> {
    const { accountId, keyId, kind, occasion, at } = notice;
    const facts =
      notice.kind === 'new-network'
        ? [notice.address, notice.network, null, null]
        : [null, null, notice.spent, notice.usual];
    await manager.query(ADD, [
      newId('ntc', at.getTime()),
      accountId,
      keyId,
      kind,
      occasion,
      at.toISOString(),
      ...facts,
    ]);
  }

  /** Which of these keys had a volume notice within a day. */
  async notifiedOfVolume(keyIds: readonly string[], manager: EntityManager): Promise<ReadonlySet<string>> {
    const rows = await manager.query<{ id: string }[]>(NOTIFIED_OF_VOLUME, [keyIds]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Also deletes the networks of the account's keys. */
  async deleteAllOf(accountId: string, manager: EntityManager): Promise<void> {
    await manager.query('DELETE FROM key_notices WHERE account_id = $1', [accountId]);
    await manager.query(DELETE_NETWORKS, [accountId]);
  }
}

function noticeOf({ address, network, spent, usual, kind, ...row }: NoticeRow): KeyNotice {
  return kind === 'new-network'
    ? { ...row, kind, address: address ?? '', network: network ?? '' }
    : { ...row, kind, spent: nanos(BigInt(spent ?? 0)), usual: nanos(BigInt(usual ?? 0)) };
}

/** Something unusual about a key that its owner should check. */
export type KeyNotice = NoticeFacts & {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** Current name. */
  readonly keyName: string;
  /** The owner's time zone. */
  readonly timeZone: string;
  /** Identifies the notice among those of its kind and key. */
  readonly occasion: string;
  /** When it happened: the first call from the network, or the time of the scan. */
  readonly at: Date;
};

type NoticeFacts =
  | { readonly kind: 'new-network'; readonly address: string; readonly network: string }
  | {
      readonly kind: 'unusual-volume';
      /** Within the hour before. */
      readonly spent: Nanos;
      /** In the most expensive hour of the previous 14 days. */
      readonly usual: Nanos;
    };

/** Columns of a new notice. */
type NewKeyNotice = NoticeFacts & Pick<KeyNotice, 'accountId' | 'keyId' | 'occasion' | 'at'>;
