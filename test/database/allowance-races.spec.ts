import type { TestingModule } from '@nestjs/testing';
import { OnboardingModule, Onboarding } from '../../src/keys/onboarding/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import {
  AllowanceCalendar,
  AllowancePeriod,
  AllowanceService,
  AllowanceRenewal,
  WalletModule,
  WalletService,
} from '../../src/wallet/index.js';
import { ShiftedCalendar } from '../support/allowance-calendar.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { finished } from '../support/billing-rows.js';
import { startOn } from '../support/modules.js';
import { eventually } from '../support/eventually.js';

const ACCOUNTS = 12;

describe('the turn of the month', () => {
  let bench: BillingBench;
  let other: TestingModule;

  const apps = (): TestingModule[] => [bench.app, other];
  const calendars = (): ShiftedCalendar[] => [
    bench.calendar,
    other.get<AllowanceCalendar, ShiftedCalendar>(AllowanceCalendar, { strict: false }),
  ];
  const given = async (): Promise<readonly string[]> => {
    const rows = await bench.query<{ months: string }>(
      'SELECT count(*) AS months FROM allowance_months GROUP BY account_id ORDER BY 1',
    );
    return rows.map(({ months }) => months);
  };

  beforeEach(async () => {
    bench = await BillingBench.start();
    other = await startOn(bench.database, [WalletModule, OnboardingModule], (builder) =>
      builder
        .overrideProvider(AllowanceCalendar)
        .useClass(ShiftedCalendar)
        .overrideProvider(AllowancePeriod)
        .useValue({ ms: 20 } satisfies AllowancePeriod),
    );
    await bench.app.get(AllowanceService).set(bench.accountId, parseUsd('20'));
    for (let number = 1; number < ACCOUNTS; number++)
      await bench.app.get(Onboarding).createAccount({ email: `p${number}@example.com` }, undefined, parseUsd('20'));
  });
  afterEach(async () => {
    expect(await bench.check()).toEqual(EXACT);
    await other.close();
    await bench.stop();
  });

  it('gives each account one allowance, however many processes turn it at once, while calls go on', async () => {
    const wallets = bench.app.get(WalletService);
    for (let month = 1; month <= 3; month++) {
      for (const calendar of calendars()) calendar.monthsAhead = month;
      const calls = Array.from({ length: 6 }, async () => {
        const request = bench.asking(parseUsd('0.5'));
        const { outcome } = await bench.admit(request);
        if (outcome === 'admitted') await bench.settle(finished(request, parseUsd('0.25')));
      });
      const turns = [...apps(), ...apps()].map((app) => app.get(AllowanceRenewal).renewAll());
      await Promise.all([...turns, ...calls, wallets.credit(bench.accountId, parseUsd('1'), 'test')]);
      // Who found another process at it left the rest to that one: now nobody is.
      await bench.app.get(AllowanceRenewal).renewAll();
      expect(await given()).toEqual(Array.from({ length: ACCOUNTS }, () => String(month + 1)));
    }
    const entries = await bench.query(
      `SELECT count(*) AS n FROM ledger_entries WHERE kind = 'allowance' HAVING count(*) <> ${ACCOUNTS * 4}`,
    );
    expect(entries).toEqual([]);
  });

  it('is seen by a process that runs, and made up for by the others when one died half way through', async () => {
    bench.calendar.monthsAhead = 1;
    // As much as a process had done when it died.
    await bench.query(
      `UPDATE allowance_months SET month = month + interval '1 month'
        WHERE account_id IN (SELECT account_id FROM allowances ORDER BY 1 LIMIT ${ACCOUNTS / 2})`,
    );
    calendars()[1]!.monthsAhead = 1;
    other.get(AllowanceRenewal).start();
    await eventually(async () => {
      const running = await bench.query('SELECT 1 FROM allowance_months WHERE ended_at IS NULL AND month > now()');
      expect(running).toHaveLength(ACCOUNTS);
    });
  });
});
