import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, idTime } from '../../platform/shared/index.js';
import { openText, type ResponseOwner, sealText, StoredResponseLimits } from './stored-response.js';

export type BackgroundStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** A response that runs, or ran, detached from its client. */
export interface BackgroundResponse {
  readonly id: string;
  readonly status: BackgroundStatus;
  /** As JSON, as it is now. */
  readonly response: string;
  /** Set if its call ended without it: with its process, or without being stored. */
  readonly lost: 'interrupted' | 'unrecorded' | undefined;
}

/** Events of a response: complete server-sent events without the final marker. */
export interface RecordedEvents {
  readonly lastSequence: number;
  readonly text: string;
}

interface BackgroundRow {
  readonly status: BackgroundStatus;
  readonly callId: string;
  readonly sealed: Buffer;
}

/** Nothing is inserted for keys that were deleted or do not allow storage, whatever the process knew. */
const INSERT = `
  INSERT INTO background_responses (key_id, id, account_id, call_id, status, sealed, created_at, expires_at)
  SELECT id, $2, $3, $4, 'in_progress', $5, $6, $7 FROM api_keys
   WHERE id = $1 AND state <> 'deleted' AND NOT never_stores
     FOR SHARE
  RETURNING id`;

const FIND = `
  SELECT status, call_id AS "callId", sealed FROM background_responses
   WHERE key_id = $1 AND id = $2 AND expires_at > $3`;

/** The first end counts. */
const END = `
  UPDATE background_responses SET status = $3, sealed = $4
   WHERE key_id = $1 AND id = $2 AND status = 'in_progress' RETURNING id`;

const ADD_EVENTS = `
  INSERT INTO background_events (key_id, response_id, last_sequence, sealed)
  SELECT key_id, id, $3, $4 FROM background_responses WHERE key_id = $1 AND id = $2
  ON CONFLICT DO NOTHING`;

const EVENTS = `
  SELECT last_sequence AS "lastSequence", sealed FROM background_events
   WHERE key_id = $1 AND response_id = $2 AND last_sequence > $3 ORDER BY last_sequence LIMIT 100`;

/** The oldest finished ones beyond a key's number. */
const EVICT = `
  DELETE FROM background_responses WHERE key_id = $1 AND status <> 'in_progress' AND id IN (
    SELECT id FROM background_responses WHERE key_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2)`;

/** A call that ended this long ago has recorded its response, if it could. */
const CALL_IS_OVER = `
  SELECT status FROM calls WHERE id = $1 AND created_at = $2
     AND (status = 'interrupted' OR created_at + duration_ms * interval '1 ms' < $3::timestamptz - interval '1 minute')`;

const nameOf = (id: string): string => `background ${id}`;
const nameOfEvents = (id: string, lastSequence: number): string => `background ${id} events to ${lastSequence}`;

/** Background responses of keys, for every process. Those of other keys and expired ones are not found. */
@Injectable()
export class BackgroundResponses {
  constructor(
    private readonly dataSource: DataSource,
    private readonly limits: StoredResponseLimits,
    private readonly clock: Clock,
  ) {}

  /** False if the key does not allow storage. */
  async begin(owner: ResponseOwner, id: string, callId: string, response: string): Promise<boolean> {
    const { keyId, accountId } = owner;
    const createdAt = this.clock.date();
    const expiresAt = new Date(createdAt.getTime() + this.limits.lifetimeMs);
    const sealed = await sealText(response, owner, nameOf(id));
    const values = [keyId, id, accountId, callId, sealed, createdAt, expiresAt];
    const isBegun = (await this.dataSource.query<unknown[]>(INSERT, values)).length > 0;
    if (isBegun) await this.dataSource.query(EVICT, [keyId, this.limits.maxBackgroundPerKey]);
    return isBegun;
  }

  async addEvents(owner: ResponseOwner, id: string, { lastSequence, text }: RecordedEvents): Promise<void> {
    const sealed = await sealText(text, owner, nameOfEvents(id, lastSequence));
    await this.dataSource.query(ADD_EVENTS, [owner.keyId, id, lastSequence, sealed]);
  }

  /** False if it had ended before, or was deleted. */
  async end(
    owner: ResponseOwner,
    id: string,
    status: Exclude<BackgroundStatus, 'in_progress'>,
    response: string,
  ): Promise<boolean> {
    const sealed = await sealText(response, owner, nameOf(id));
    const [ended] = await this.dataSource.query<[unknown[], number]>(END, [owner.keyId, id, status, sealed]);
    return ended.length > 0;
  }

  async isRunning({ keyId }: ResponseOwner, id: string): Promise<boolean> {
    const [row] = await this.dataSource.query<BackgroundRow[]>(FIND, [keyId, id, this.clock.date()]);
    return row?.status === 'in_progress';
  }

  async find(owner: ResponseOwner, id: string): Promise<BackgroundResponse | undefined> {
    // PostgreSQL rejects NUL.
    if (id.includes('\0')) return undefined;
    const [row] = await this.dataSource.query<BackgroundRow[]>(FIND, [owner.keyId, id, this.clock.date()]);
    const response = row && (await openText(row.sealed, owner, nameOf(id)));
    if (row === undefined || response === undefined) return undefined;
    const lost = row.status === 'in_progress' ? await this.lossOf(row.callId) : undefined;
    return { id, status: row.status, response, lost };
  }

  /** The next events after a sequence number, in order. The first may begin before it. */
  async eventsAfter(owner: ResponseOwner, id: string, sequence: number): Promise<readonly RecordedEvents[]> {
    const values = [owner.keyId, id, sequence];
    const rows = await this.dataSource.query<{ lastSequence: number; sealed: Buffer }[]>(EVENTS, values);
    const events: RecordedEvents[] = [];
    for (const { lastSequence, sealed } of rows) {
      const text = await openText(sealed, owner, nameOfEvents(id, lastSequence));
      if (text !== undefined) events.push({ lastSequence, text });
    }
    return events;
  }

  /** Whether it existed. A running one is cancelled. */
  async delete({ keyId }: Pick<ResponseOwner, 'keyId'>, id: string): Promise<boolean> {
    const [, deleted] = await this.dataSource.query<[unknown, number]>(
      'DELETE FROM background_responses WHERE key_id = $1 AND id = $2',
      [keyId, id],
    );
    return deleted > 0;
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.dataSource.query('DELETE FROM background_responses WHERE expires_at <= $1', [now]);
  }

  private async lossOf(callId: string): Promise<BackgroundResponse['lost']> {
    const values = [callId, new Date(idTime(callId) ?? 0), this.clock.date()];
    const [call] = await this.dataSource.query<{ status: string }[]>(CALL_IS_OVER, values);
    return call && (call.status === 'interrupted' ? 'interrupted' : 'unrecorded');
  }
}
