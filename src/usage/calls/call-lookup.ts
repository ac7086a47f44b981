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
import { CallNotFound } from '../usage.errors.js';

/** Rejects IDs with a time too far ahead of any clock, some of which the database cannot represent. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;

/** One statement sees one moment: a call that is being settled is found in one of the two tables. */
const FIND = `
  SELECT ${finishedColumns(ALL_COLUMNS)} FROM calls c
   -- The time inside the id, so that one partition is read.
   WHERE c.id = $1 AND c.created_at = $2::timestamptz AND ($3::text IS NULL OR c.account_id = $3)
   UNION ALL
  SELECT ${runningColumns(ALL_COLUMNS)} FROM open_calls c
   WHERE c.id = $1 AND ($3::text IS NULL OR c.account_id = $3)`;

/** Looks up a call by the ID in its response. */
@Injectable()
export class CallLookup {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * @param accountId undefined: any account
   * @throws CallNotFound, also for calls of other accounts
   */
  async find(accountId: string | undefined, callId: string): Promise<RecordedCall> {
    const notFound = (): CallNotFound => new CallNotFound(callId, accountId === undefined);
    const time = callId.startsWith('req_') ? idTime(callId) : undefined;
    if (time === undefined || time > this.clock.now() + MAX_AHEAD_MS) throw notFound();
    const createdAt = new Date(time).toISOString();
    const rows = await this.dataSource.query<StoredCall<CallColumn>[]>(FIND, [callId, createdAt, accountId ?? null]);
    // A settled call may still have a hold to be released: prefer the finished row.
    const row = rows.find(({ status }) => status !== 'open') ?? rows[0];
    if (row === undefined) throw notFound();
    return readCall(row, ALL_COLUMNS);
  }
}
