import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, idTime } from '../../platform/shared/index.js';
import {
  ALL_COLUMNS,
  type CallColumn,
  finishedColumns,
  readCall,
  type RecordedCall,
  runningColumns,
  type StoredCall,
} from './recorded-call.js';
import type { CallOwner } from '../usage-filter.js';
import { CallNotFound } from '../usage.errors.js';

/** Rejects IDs with a time too far ahead of any clock, some of which the database cannot represent. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;

/** $3: account, $4: whether only calls of one member, or of none, are meant. */
const OWNED =
  '($3::text IS NULL OR c.account_id = $3) AND ($4::boolean IS FALSE OR c.member_id IS NOT DISTINCT FROM $5)';

/** One statement sees one moment: a call that is being settled is found in one of the two tables. */
const FIND = `
  SELECT ${finishedColumns(ALL_COLUMNS)} FROM calls c
   -- The time inside the id, so that one partition is read.
   WHERE c.id = $1 AND c.created_at = $2::timestamptz AND ${OWNED}
   UNION ALL
  SELECT ${runningColumns(ALL_COLUMNS)} FROM open_calls c
   WHERE c.id = $1 AND ${OWNED}`;

/** Looks up a call by the ID in its response. */
@Injectable()
export class CallLookup {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * @param owner undefined: anyone
   * @throws CallNotFound, also for calls of others
   */
  async find(owner: CallOwner | undefined, callId: string): Promise<RecordedCall> {
    const notFound = (): CallNotFound => new CallNotFound(callId, owner === undefined);
    const time = callId.startsWith('req_') ? idTime(callId) : undefined;
    if (time === undefined || time > this.clock.now() + MAX_AHEAD_MS) throw notFound();
    const createdAt = new Date(time).toISOString();
    const whose = [owner?.accountId ?? null, owner?.memberId !== undefined, owner?.memberId ?? null];
    const rows = await this.dataSource.query<StoredCall<CallColumn>[]>(FIND, [callId, createdAt, ...whose]);
    // A settled call may still have a hold to be released: prefer the finished row.
    const row = rows.find(({ status }) => status !== 'open') ?? rows[0];
    if (row === undefined) throw notFound();
    return readCall(row, ALL_COLUMNS);
  }
}
