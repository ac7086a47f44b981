import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { codeOf } from '../platform/shared/index.js';
import { RangeTooLarge } from './usage.errors.js';

/** Statement timeout for pages. */
export const READ_LIMIT_MS = 5000;
/** PostgreSQL's code for a statement timeout. */
const TIME_LIMIT = '57014';

/** A query. Eight-byte integers are read as text. */
export type Query = <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Consistent reads for pages: several statements on one snapshot, each with a timeout. */
@Injectable()
export class TimeLimitedReads {
  constructor(private readonly dataSource: DataSource) {}

  /** @throws RangeTooLarge when a statement takes longer than 5 s */
  async read<T>(work: (query: Query) => Promise<T>, limitMs = READ_LIMIT_MS): Promise<T> {
    try {
      return await this.dataSource.transaction('REPEATABLE READ', async (manager) => {
        await manager.query(`SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${Math.trunc(limitMs)}`);
        return work((sql, values = []) => manager.query(sql, [...values]));
      });
    } catch (error) {
      if (codeOf(error) === TIME_LIMIT) throw new RangeTooLarge(error);
      throw error;
    }
  }
}
