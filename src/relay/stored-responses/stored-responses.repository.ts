import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { NewStoredResponse, ResponseOwner, UpstreamOrigin } from './stored-response.js';

/** A row. */
export interface StoredResponseRow extends UpstreamOrigin {
  readonly id: string;
  readonly expiresAt: Date;
  readonly sealed: Buffer | null;
}

type NewStoredResponseRow = Omit<NewStoredResponse, 'content'> &
  Omit<StoredResponseRow, 'id' | 'channelId' | 'credentialId'> & { readonly createdAt: Date };

type OwnerIds = Pick<ResponseOwner, 'keyId' | 'accountId'>;

/** Nothing is inserted for keys that were deleted or do not allow storage, whatever the process knew. */
const INSERT = (lock: '' | 'FOR SHARE'): string => `
  WITH kept AS (
    INSERT INTO stored_answers (key_id, id, account_id, call_id, channel_id, created_at, expires_at, sealed, credential_id)
    SELECT id, $2, $3, $4, $5, $6, $7, $8, $10
      FROM api_keys WHERE id = $1 AND state <> 'deleted' AND NOT never_stores
       -- The response's last frame waits for this. A row lost in a server crash is not found later.
       AND set_config('synchronous_commit', 'off', true) = 'off' ${lock}
    ON CONFLICT DO NOTHING
    RETURNING key_id, id),
  items AS (
    INSERT INTO stored_answer_items (key_id, id, answer_id)
    SELECT DISTINCT kept.key_id, item, kept.id FROM kept CROSS JOIN unnest($9::text[]) AS item
    -- Some upstreams reuse item ids across responses: then the latest is meant.
    ON CONFLICT (key_id, id) DO UPDATE SET answer_id = EXCLUDED.answer_id)
  SELECT id FROM kept`;
const INSERT_ORIGIN = INSERT('');
/** Locks the key against deletion, which would miss the new row; admission of its calls waits. */
const INSERT_SEALED = INSERT('FOR SHARE');

const COLUMNS = `a.id, a.channel_id AS "channelId", a.credential_id AS "credentialId", a.expires_at AS "expiresAt", a.sealed`;

const FIND = `SELECT ${COLUMNS} FROM stored_answers a WHERE a.key_id = $1 AND a.id = $2 AND a.expires_at > $3`;

/** Each response once, with the requested items in it. */
const OF_ITEMS = `
  SELECT ${COLUMNS}, i.ids AS "itemIds"
    FROM (SELECT answer_id, array_agg(id) AS ids
            FROM stored_answer_items WHERE key_id = $1 AND id = ANY ($2::text[]) GROUP BY answer_id) i
    JOIN stored_answers a ON a.key_id = $1 AND a.id = i.answer_id
   WHERE a.expires_at > $3`;

/** The oldest responses beyond a key's number or bytes. $2 and $3: stored here; $4: stored by channels. */
const EVICT = `
  DELETE FROM stored_answers WHERE key_id = $1 AND id IN (
    SELECT id FROM (
      SELECT id, sealed IS NULL AS elsewhere, row_number() OVER w AS number, sum(octet_length(sealed)) OVER w AS bytes
        FROM stored_answers WHERE key_id = $1
      WINDOW w AS (PARTITION BY sealed IS NULL ORDER BY created_at DESC, id DESC)) a
     WHERE CASE WHEN elsewhere THEN number > $4 ELSE number > $2 OR bytes > $3 END)`;

const OF_CALL = `account_id = $1 AND call_id = $2 AND sealed IS NOT NULL`;

@Injectable()
export class StoredResponsesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** False without writing if the key does not allow storage or has a response with this ID. */
  async insert({ keyId, accountId }: OwnerIds, row: NewStoredResponseRow): Promise<boolean> {
    const { id, callId, channelId, credentialId, createdAt, expiresAt, sealed, itemIds } = row;
    const values = [keyId, id, accountId, callId, channelId, createdAt, expiresAt, sealed, itemIds, credentialId];
    return (await this.dataSource.query<unknown[]>(sealed === null ? INSERT_ORIGIN : INSERT_SEALED, values)).length > 0;
  }

  async find(keyId: string, id: string, now: Date): Promise<StoredResponseRow | undefined> {
    const [row] = await this.dataSource.query<StoredResponseRow[]>(FIND, [keyId, id, now]);
    return row;
  }

  ofItems(
    keyId: string,
    itemIds: readonly string[],
    now: Date,
  ): Promise<readonly (StoredResponseRow & { readonly itemIds: readonly string[] })[]> {
    return this.dataSource.query(OF_ITEMS, [keyId, itemIds, now]);
  }

  /** Whether it existed. */
  async delete(keyId: string, id: string): Promise<boolean> {
    const [, deleted] = await this.dataSource.query<[unknown, number]>(
      'DELETE FROM stored_answers WHERE key_id = $1 AND id = $2',
      [keyId, id],
    );
    return deleted > 0;
  }

  async evict(keyId: string, maxResponses: number, maxBytes: number, maxOrigins: number): Promise<void> {
    await this.dataSource.query(EVICT, [keyId, maxResponses, maxBytes, maxOrigins]);
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.dataSource.query('DELETE FROM stored_answers WHERE expires_at <= $1', [now]);
  }

  /** Expiry of a call's stored response. */
  async expiryOfCall(accountId: string, callId: string, now: Date): Promise<Date | undefined> {
    const [row] = await this.dataSource.query<{ expiresAt: Date }[]>(
      `SELECT expires_at AS "expiresAt" FROM stored_answers WHERE ${OF_CALL} AND expires_at > $3`,
      [accountId, callId, now],
    );
    return row?.expiresAt;
  }

  async deleteOfCall(accountId: string, callId: string): Promise<void> {
    await this.dataSource.query(`DELETE FROM stored_answers WHERE ${OF_CALL}`, [accountId, callId]);
  }
}
