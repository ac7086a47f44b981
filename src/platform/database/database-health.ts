import { Injectable } from '@nestjs/common';
import { within } from '../shared/index.js';
import { DatabasePools } from './pools.js';

const PING_MS = 1000;

@Injectable()
export class DatabaseHealth {
  constructor(private readonly pools: DatabasePools) {}

  /** True if the database answers within one second. Never rejects. */
  async ping(): Promise<boolean> {
    const answer = this.pools.general.query('SELECT 1').then(
      () => true,
      () => false,
    );
    return (await within(answer, PING_MS)) ?? false;
  }
}
