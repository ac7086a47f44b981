import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The youngest calls that are summed up are older than this, so that those that run are in no hurry. */
const BEHIND_MS = 2 * 60 * 60 * 1000;

/** Keeps the sums of what keys were used for (`key_uses`) up to date: for whoever does so in the background. */
@Injectable()
export class KeyUseRollups {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Sums up some hours more, in a transaction of its own: a late call waits for no longer. Two at once wait for each other.
   * @returns whether nothing is left to be summed up for now
   */
  async step(): Promise<boolean> {
    const [row] = await this.dataSource.query<{ done: boolean }[]>(
      `SELECT sum_up_key_uses() > now() - make_interval(secs => $1) AS done`,
      [BEHIND_MS / 1000],
    );
    return row?.done ?? false;
  }
}
