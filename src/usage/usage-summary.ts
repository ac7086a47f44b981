import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { within } from '../shared/index.js';
import { READ_LIMIT_MS } from './time-limited-reads.js';
import { RangeTooLarge } from './usage.errors.js';

/** Keeps the sums of an account's calls by quarters of an hour (`usage_slots`) up to date, when somebody looks at them. */
@Injectable()
export class UsageSummary {
  private readonly running = new Map<string, Promise<true>>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Sums up what is missing. It goes on when that takes longer than a page may, so that the next one finds it done.
   * @throws RangeTooLarge after 5 s
   */
  async update(accountId: string): Promise<void> {
    if (await this.isUpToDate(accountId)) return;
    const running = this.running.get(accountId) ?? this.start(accountId);
    if ((await within(running, READ_LIMIT_MS)) === undefined) throw new RangeTooLarge();
  }

  private start(accountId: string): Promise<true> {
    const running = this.sumUp(accountId).finally(() => this.running.delete(accountId));
    // Whoever waits for it hears of a failure; nobody may.
    running.catch(() => undefined);
    this.running.set(accountId, running);
    return running;
  }

  /** Day by day, each a transaction of its own: a late call has to wait for no more than one. */
  private async sumUp(accountId: string): Promise<true> {
    for (;;) {
      await this.dataSource.query('SELECT sum_up_usage($1)', [accountId]);
      if (await this.isUpToDate(accountId)) return true;
    }
  }

  /** They may lag behind by two hours; what is younger is read call by call. */
  private async isUpToDate(accountId: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ done: boolean }[]>(
      `SELECT summed_until >= now() - interval '2 hours' AS done FROM usage_sums WHERE account_id = $1`,
      [accountId],
    );
    return row?.done ?? false;
  }
}
