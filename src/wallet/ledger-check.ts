import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { formatUsd } from '../platform/shared/index.js';
import type { LedgerRule } from './ledger-rule.js';
import { LEDGER_RULES } from './ledger-rules.js';

export interface LedgerReport {
  readonly exact: boolean;
  /** One line for each figure that is not what the entries and calls say. */
  readonly differences: readonly string[];
}

/** What every rule's query returns, for each subject where the two differ. Whole numbers as text. */
interface Difference {
  readonly subject: string;
  readonly stored: string;
  readonly expected: string;
}

/** Recomputes every balance, hold and use from the records behind it. */
@Injectable()
export class LedgerCheck {
  constructor(private readonly dataSource: DataSource) {}

  /** Everything is compared as it was at one moment, while calls go on. */
  run(): Promise<LedgerReport> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const differences: string[] = [];
      for (const rule of LEDGER_RULES) {
        const rows = await manager.query<Difference[]>(rule.sql);
        differences.push(...rows.map((row) => describe(rule, row)));
      }
      return { exact: differences.length === 0, differences };
    });
  }
}

function describe({ what, source, unit }: LedgerRule, { subject, stored, expected }: Difference): string {
  const [is, shouldBe] = [stored, expected].map((text) => (unit === 'usd' ? `$${formatUsd(BigInt(text))}` : text));
  return `${what} ${subject} is ${is}, but ${source} ${shouldBe}`;
}
