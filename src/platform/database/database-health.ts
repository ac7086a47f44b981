import { Injectable } from '@nestjs/common';
import { within } from '../shared/index.js';
import { DatabasePools } from './pools.js';

const PING_MS = 1000;

/** Whether the database answers. */
@Injectable()
export class DatabaseHealth {
  constructor(private readonly pools: DatabasePools) {}

  /** True when the database answered a query within one second; never rejects. */
  async ping(): Promise<boolean> {
    const answer = this.pools.general.query('SELECT 1').then(
      () => true,
      () => false,
    );
    return (await within(answer, PING_MS)) ?? false;
  }
}
