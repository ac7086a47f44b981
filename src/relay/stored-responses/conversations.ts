import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AppError, Clock, codeOf, type JsonObject, newId } from '../../platform/shared/index.js';
import { openText, type ResponseOwner, sealText, StoredResponseLimits } from './stored-response.js';

/** A conversation without its items. */
export interface Conversation {
  readonly id: string;
  readonly createdAt: Date;
  readonly metadata: JsonObject;
}

/** An item as JSON: an object with `id`. */
export interface ConversationItem {
  readonly id: string;
  readonly text: string;
}

interface ConversationRow {
  readonly createdAt: Date;
  readonly sealed: Buffer;
}

/** Nothing is inserted for keys that were deleted or do not allow storage, whatever the process knew. */
const INSERT = `
  INSERT INTO conversations (key_id, id, account_id, sealed, created_at, expires_at)
  SELECT id, $2, $3, $4, $5, $6 FROM api_keys
   WHERE id = $1 AND state <> 'deleted' AND NOT never_stores
     AND (SELECT count(*) FROM conversations WHERE key_id = $1) < $7
     FOR SHARE
  RETURNING id`;

const FIND = `
  SELECT created_at AS "createdAt", sealed FROM conversations
   WHERE key_id = $1 AND id = $2 AND expires_at > $3`;

/** Appends of one key run one after another, so that none exceeds a limit that another one reaches. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('conversations of ' || $1, 0))`;
const LOCK_WAIT_MS = 2000;
const LOCK_NOT_AVAILABLE = '55P03';

const LENGTHS = `
  SELECT COALESCE(sum(length), 0) AS total, COALESCE(sum(length) FILTER (WHERE id = $2 AND expires_at > $3), 0) AS own
    FROM conversations WHERE key_id = $1`;

const APPEND = `
  WITH given AS (
    SELECT * FROM unnest($4::text[], $5::integer[], $6::bytea[]) WITH ORDINALITY AS g (id, length, sealed, place)),
  held AS (
    UPDATE conversations SET next_item = next_item + $7, expires_at = $8,
           length = length + (SELECT COALESCE(sum(length), 0) FROM given)
     WHERE key_id = $1 AND id = $2 AND expires_at > $3
    RETURNING key_id, id, next_item - $7 AS first)
  INSERT INTO conversation_items (key_id, conversation_id, id, ordinal, length, sealed)
  SELECT held.key_id, held.id, given.id, held.first + given.place - 1, given.length, given.sealed FROM held, given
  ON CONFLICT (key_id, conversation_id, id) DO NOTHING`;

const ITEMS = `
  SELECT id, sealed FROM conversation_items WHERE key_id = $1 AND conversation_id = $2 ORDER BY ordinal`;

const ITEM = `
  SELECT i.sealed FROM conversation_items i JOIN conversations c ON c.key_id = i.key_id AND c.id = i.conversation_id
   WHERE i.key_id = $1 AND i.conversation_id = $2 AND i.id = $3 AND c.expires_at > $4`;

const EXISTING = `
  SELECT id FROM conversation_items WHERE key_id = $1 AND conversation_id = $2 AND id = ANY ($3::text[])`;

const DELETE_ITEM = `
  WITH gone AS (
    DELETE FROM conversation_items WHERE key_id = $1 AND conversation_id = $2 AND id = $3 RETURNING length)
  UPDATE conversations SET length = conversations.length - gone.length FROM gone WHERE key_id = $1 AND id = $2
  RETURNING id`;

const nameOf = (id: string): string => `conversation ${id}`;
const nameOfItem = (conversationId: string, id: string): string => `conversation ${conversationId} item ${id}`;

/** Conversations of keys. Those of other keys and expired ones are not found. */
@Injectable()
export class Conversations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly limits: StoredResponseLimits,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError when the key has too many, or does not allow storage */
  async create(owner: ResponseOwner, metadata: JsonObject): Promise<Conversation> {
    const createdAt = this.clock.date();
    const id = newId('conv', createdAt.getTime());
    const sealed = await sealText(JSON.stringify(metadata), owner, nameOf(id));
    const { keyId, accountId } = owner;
    const values = [keyId, id, accountId, sealed, createdAt, this.expiry(), this.limits.maxConversationsPerKey];
    if ((await this.dataSource.query<unknown[]>(INSERT, values)).length === 0) throw new TooManyConversations();
    return { id, createdAt, metadata };
  }

  async find(owner: ResponseOwner, id: string): Promise<Conversation | undefined> {
    const row = await this.rowOf(owner, id);
    const metadata = row && (await openText(row.sealed, owner, nameOf(id)));
    if (row === undefined || metadata === undefined) return undefined;
    return { id, createdAt: row.createdAt, metadata: JSON.parse(metadata) as JsonObject };
  }

  async update(owner: ResponseOwner, id: string, metadata: JsonObject): Promise<Conversation | undefined> {
    const sealed = await sealText(JSON.stringify(metadata), owner, nameOf(id));
    await this.dataSource.query('UPDATE conversations SET sealed = $3, expires_at = $4 WHERE key_id = $1 AND id = $2', [
      owner.keyId,
      id,
      sealed,
      this.expiry(),
    ]);
    return this.find(owner, id);
  }

  /** Whether it existed. */
  async delete({ keyId }: ResponseOwner, id: string): Promise<boolean> {
    const [, deleted] = await this.dataSource.query<[unknown, number]>(
      'DELETE FROM conversations WHERE key_id = $1 AND id = $2',
      [keyId, id],
    );
    return deleted > 0;
  }

  /** All items, oldest first; undefined without such a conversation. */
  async items(owner: ResponseOwner, id: string): Promise<readonly ConversationItem[] | undefined> {
    if ((await this.rowOf(owner, id)) === undefined) return undefined;
    const rows = await this.dataSource.query<{ id: string; sealed: Buffer }[]>(ITEMS, [owner.keyId, id]);
    const items: ConversationItem[] = [];
    for (const item of rows) {
      const text = await openText(item.sealed, owner, nameOfItem(id, item.id));
      if (text !== undefined) items.push({ id: item.id, text });
    }
    return items;
  }

  /** The JSON of one item. */
  async item(owner: ResponseOwner, id: string, itemId: string): Promise<string | undefined> {
    if (id.includes('\0') || itemId.includes('\0')) return undefined;
    const values = [owner.keyId, id, itemId, this.clock.date()];
    const [row] = await this.dataSource.query<{ sealed: Buffer }[]>(ITEM, values);
    return row && openText(row.sealed, owner, nameOfItem(id, itemId));
  }

  /**
   * Adds items at the end, all or none. Does nothing without such a conversation.
   * @throws AppError as `checkSpace`; unavailable while other requests of the key take long to add theirs
   */
  append(owner: ResponseOwner, id: string, items: readonly ConversationItem[]): Promise<void> {
    return this.add(owner, id, items, lengthOf(items));
  }

  /** As `append`, for a call that was admitted: only its output, whose length was not known, may exceed the limits. */
  appendTurn(owner: ResponseOwner, id: string, items: readonly ConversationItem[]): Promise<void> {
    return this.add(owner, id, items, 0);
  }

  private async add(
    owner: ResponseOwner,
    id: string,
    items: readonly ConversationItem[],
    checkedLength: number,
  ): Promise<void> {
    if (items.length === 0 || (await this.rowOf(owner, id)) === undefined) return;
    const named = await this.withOwnIds(owner, id, items);
    const sealed = await Promise.all(named.map((item) => sealText(item.text, owner, nameOfItem(id, item.id))));
    const [ids, lengths] = [named.map((item) => item.id), named.map(({ text }) => text.length)];
    await this.dataSource.transaction(async (manager) => {
      await lock(manager, owner.keyId);
      await this.checkSpace(owner, id, checkedLength, manager);
      const values = [owner.keyId, id, this.clock.date(), ids, lengths, sealed, named.length, this.expiry()];
      await manager.query(APPEND, values);
    });
  }

  /**
   * @param added characters
   * @throws AppError request_too_large when they do not fit into the conversation, or into those of the key
   */
  async checkSpace(owner: ResponseOwner, id: string, added: number, manager = this.dataSource.manager): Promise<void> {
    const { own, total } = await this.lengths(owner, id, manager);
    if (own + added > this.limits.maxReferencedLength) throw new ConversationFull();
    if (total + added > this.limits.maxConversationLengthPerKey) throw new ConversationsFull();
  }

  /** Characters of the items, in the conversation and in all of the key. */
  async lengths(
    { keyId }: ResponseOwner,
    id: string,
    manager = this.dataSource.manager,
  ): Promise<{ readonly own: number; readonly total: number }> {
    if (id.includes('\0')) return { own: 0, total: 0 };
    const values = [keyId, id, this.clock.date()];
    const [lengths] = await manager.query<{ own: string; total: string }[]>(LENGTHS, values);
    return { own: Number(lengths?.own), total: Number(lengths?.total) };
  }

  /** Whether it existed. */
  async deleteItem({ keyId }: ResponseOwner, id: string, itemId: string): Promise<boolean> {
    const [updated] = await this.dataSource.query<[unknown[], number]>(DELETE_ITEM, [keyId, id, itemId]);
    return updated.length > 0;
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.dataSource.query('DELETE FROM conversations WHERE expires_at <= $1', [now]);
  }

  /** Some upstreams reuse item IDs across responses: the later item gets another one. */
  private async withOwnIds(
    { keyId }: ResponseOwner,
    id: string,
    items: readonly ConversationItem[],
  ): Promise<readonly ConversationItem[]> {
    const values = [keyId, id, items.map((item) => item.id)];
    const rows = await this.dataSource.query<{ id: string }[]>(EXISTING, values);
    const taken = new Set(rows.map((row) => row.id));
    return items.map((item) => {
      const isTaken = taken.has(item.id);
      taken.add(item.id);
      if (!isTaken) return item;
      const own = newId('item', this.clock.date().getTime());
      return { id: own, text: JSON.stringify({ ...(JSON.parse(item.text) as JsonObject), id: own }) };
    });
  }

  private async rowOf({ keyId }: ResponseOwner, id: string): Promise<ConversationRow | undefined> {
    // PostgreSQL rejects NUL.
    if (id.includes('\0')) return undefined;
    const [row] = await this.dataSource.query<ConversationRow[]>(FIND, [keyId, id, this.clock.date()]);
    return row;
  }

  private expiry(): Date {
    return new Date(this.clock.date().getTime() + this.limits.conversationLifetimeMs);
  }
}

const lengthOf = (items: readonly ConversationItem[]): number => items.reduce((sum, { text }) => sum + text.length, 0);

/** Waiters hold a connection each. */
async function lock(manager: EntityManager, keyId: string): Promise<void> {
  try {
    await manager.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
    await manager.query(LOCK, [keyId]);
  } catch (error) {
    if (codeOf(error) === LOCK_NOT_AVAILABLE) throw new ConversationsBusy();
    throw error;
  }
}

class ConversationsBusy extends AppError {
  constructor() {
    super('unavailable', 'Other requests are changing conversations of this key. Retry shortly.');
  }
}

class TooManyConversations extends AppError {
  constructor() {
    super('invalid_request', 'This key has the maximum number of conversations. Delete some.');
  }
}

class ConversationsFull extends AppError {
  constructor() {
    super('request_too_large', 'The conversations of this key have reached their maximum total length. Delete some.');
  }
}

class ConversationFull extends AppError {
  constructor() {
    super(
      'request_too_large',
      'The conversation is full: it cannot take this input. Delete items, or start another one.',
    );
  }
}
