import type { AdmissionRequest } from '../../src/relay/billing/admission.js';
import type { CallRow } from '../../src/relay/billing/call-row.js';
import type { BillingBench } from './billing-bench.js';
import { finished } from './billing-rows.js';
import { PERIODS, type HoldRequest } from './money-model.js';
import { MoneyMovements } from './money-movements.js';
import { MoneyPayments } from './money-payments.js';
import { handOver } from './money-state.js';
import { type Call, compare, type Jobs, type Step, type World } from './money-world.js';

/** Carries out the steps of one kind. */
type StepRunner<Kind extends Step['kind']> = (jobs: Jobs<Kind>) => Promise<void>;

/** Carries out one step of many worlds at once, each kind of step as one batch, in database and model. */
export class MoneyStepper {
  /** Old enough for a hold of a settled call to be looked for. */
  private readonly createdAt = Date.now() - 120_000;
  private readonly doers: { readonly [K in Exclude<Step['kind'], 'release'>]: StepRunner<K> } = {
    admit: (jobs) => this.admit(jobs.flatMap(({ world, step }) => step.wishes.map((wish) => ({ world, wish })))),
    overtaken: (jobs) => this.overtake(jobs),
    extend: (jobs) => this.extend(jobs),
    settle: (jobs) =>
      this.settle(jobs.flatMap(({ world, step }) => step.calls.map((call) => ({ world, call, ...call })))),
    sweep: (jobs) =>
      this.settle(
        jobs.flatMap(({ world, step }) =>
          step.calls.map(({ pick }) => ({ world, pick, cost: 0n, status: 'interrupted' as const })),
        ),
      ),
    move: (jobs) => this.movements.move(jobs),
    takeBack: (jobs) => this.movements.takeBack(jobs),
    allow: (jobs) => this.movements.allow(jobs),
    turn: (jobs) => this.movements.turn(jobs),
    order: (jobs) => this.payments.order(jobs),
    pay: (jobs) => this.payments.pay(jobs),
    reverse: (jobs) => this.payments.reverse(jobs),
    quota: (jobs) => this.quota(jobs),
    limit: (jobs) => this.limit(jobs),
    limitHolder: (jobs) => this.limitHolder(jobs.filter(({ world }) => world.holderIds.length > 0)),
    handOver: (jobs) => this.handOver(jobs.filter(({ world }) => world.holderIds.length > 0)),
    crash: (jobs) => this.crash(jobs),
    passTime: (jobs) => this.passTime(jobs.map(({ world }) => world)),
  };

  private readonly movements: MoneyMovements;
  private readonly payments: MoneyPayments;

  constructor(
    private readonly bench: BillingBench,
    private readonly worlds: readonly World[],
  ) {
    this.movements = new MoneyMovements(bench);
    this.payments = new MoneyPayments(bench);
  }

  /** The step that each world takes now; undefined where it has none left. */
  async step(steps: readonly (Step | undefined)[]): Promise<void> {
    if (steps.some((step) => step?.kind === 'release')) await this.release();
    for (const [kind, doer] of Object.entries(this.doers)) {
      const jobs = steps.flatMap((step, index) => (step?.kind === kind ? [{ world: this.worlds[index]!, step }] : []));
      if (jobs.length > 0) await (doer as StepRunner<Step['kind']>)(jobs);
    }
  }

  private request(world: World, { key, ...wish }: HoldRequest & { readonly key: number }): AdmissionRequest {
    return this.bench.asking(0n, {
      created_at: new Date(this.createdAt).toISOString(),
      account_id: world.accountId,
      key_id: world.keyIds[key]!,
      minimum: wish.minimum.toString(),
      base: wish.base.toString(),
      ceiling: wish.ceiling.toString(),
      prompt: wish.prompt.toString(),
    });
  }

  private async admit(
    requested: readonly {
      readonly world: World;
      readonly wish: HoldRequest & { readonly key: number };
      readonly call?: Call;
    }[],
  ): Promise<void> {
    const calls = requested.map(
      ({ world, wish, call }): Call =>
        call ?? { request: this.request(world, wish), key: wish.key, known: 0n, open: undefined, row: undefined },
    );
    const results = await this.bench.repository.admit(calls.map(({ request }) => request));
    requested.forEach(({ world, wish, call: again }, index) => {
      const call = calls[index]!;
      const { outcome, hold: amount } = results[index]!;
      compare(world, 'admission', { outcome, amount }, world.model.admit(call, wish));
      if (outcome === 'admitted' && !again) world.calls.push(call);
    });
  }

  private async overtake(jobs: Jobs<'overtaken'>): Promise<void> {
    const begun = jobs.map(({ world, step: { wish } }) => {
      const call: Call = {
        request: this.request(world, wish),
        key: wish.key,
        known: 0n,
        open: undefined,
        row: undefined,
      };
      world.calls.push(call);
      return { world, wish, call };
    });
    await this.settleCalls(begun.map(({ world, call }) => ({ world, call, cost: 0n, status: 'refused' as const })));
    await this.admit(begun);
  }

  private async extend(jobs: Jobs<'extend'>): Promise<void> {
    const requested = jobs.flatMap(({ world, step }) =>
      step.calls.flatMap(({ pick, ...rest }) => world.pick(pick).map((call) => ({ world, call, ...rest }))),
    );
    if (requested.length === 0) return;
    const results = await this.bench.repository.extend(
      requested.map(({ call, want }) => ({ admission: call.request, held: call.known, want })),
    );
    requested.forEach(({ world, call, want }, index) => {
      const { outcome, granted: amount } = results[index]!;
      compare(world, 'extension', { outcome, amount }, world.model.extend(call, want));
    });
    // A response that is not received leaves the process with what it knew.
    requested.forEach(({ call, received }, index) => {
      if (received) call.known += results[index]!.granted;
    });
  }

  private async settle(
    requested: readonly { world: World; pick: number; cost: bigint; status: CallRow['status'] }[],
  ): Promise<void> {
    await this.settleCalls(
      requested.flatMap(({ world, pick, cost, status }) =>
        world.pick(pick).map((call) => ({ world, call, cost, status })),
      ),
    );
  }

  private async settleCalls(
    requested: readonly { world: World; call: Call; cost: bigint; status: CallRow['status'] }[],
  ): Promise<void> {
    if (requested.length === 0) return;
    const results = await this.bench.repository.settle(
      requested.map(({ call, cost, status }) => finished(call.request, cost, { status })),
    );
    requested.forEach(({ world, call, cost, status }, index) =>
      compare(world, 'settlement', results[index], world.model.settle(call, cost, status)),
    );
    for (const { world } of requested) world.model.payOwed();
  }

  /** Of all worlds: nobody says whose holds are to be looked for. */
  private async release(): Promise<void> {
    const late = this.worlds.flatMap((world) =>
      world.calls.filter(({ open, row }) => open && row).map((call) => ({ world, call })),
    );
    const released = await this.bench.repository.releaseSettledHolds();
    if (released !== late.length) throw new Error(`${released} holds were released, and not ${late.length}`);
    for (const { world, call } of late) world.model.settle(call, 0n, 'interrupted');
    for (const { world } of late) world.model.payOwed();
  }

  private async quota(jobs: Jobs<'quota'>): Promise<void> {
    const rows = jobs.map(({ world, step: { key, amount } }) => {
      return { key: world.keyIds[key], quota: world.model.quota(key, amount)?.toString() };
    });
    await this.bench.query(
      `UPDATE api_keys k SET quota = r.quota FROM json_to_recordset($1) AS r (key text, quota bigint) WHERE k.id = r.key`,
      [JSON.stringify(rows)],
    );
  }

  private async limit(jobs: Jobs<'limit'>): Promise<void> {
    for (const [index, period] of PERIODS.entries()) {
      const rows = jobs
        .filter(({ step }) => step.period === index)
        .map(({ world, step: { key, amount } }) => {
          return { key: world.keyIds[key], budget: world.model.limit(key, period, amount)?.toString() };
        });
      const column = ['daily_budget', 'weekly_budget', 'monthly_budget'][index]!;
      await this.bench.query(
        `WITH asked AS (SELECT * FROM json_to_recordset($1) AS r (key text, budget bigint)),
              keys AS (UPDATE api_keys k SET ${column} = asked.budget FROM asked WHERE k.id = asked.key)
         UPDATE budgets b SET "limit" = asked.budget FROM asked
          WHERE b.holder_id = asked.key AND b.period = $2 AND b.period_start = budget_period_start($2, now())`,
        [JSON.stringify(rows), period],
      );
    }
  }

  private async limitHolder(jobs: Jobs<'limitHolder'>): Promise<void> {
    for (const [index, period] of [...PERIODS, 'lifetime' as const].entries()) {
      const rows = jobs
        .filter(({ step }) => step.period === index)
        .map(({ world, step: { holder, amount } }) => {
          return { id: world.holderIds[holder], budget: world.model.limitHolder(holder, period, amount)?.toString() };
        });
      const column = ['daily_budget', 'weekly_budget', 'monthly_budget', 'quota'][index]!;
      await this.bench.query(
        `WITH asked AS (SELECT * FROM json_to_recordset($1) AS r (id text, budget bigint)),
              members AS (UPDATE members m SET ${column} = asked.budget FROM asked WHERE m.id = asked.id),
              teams AS (UPDATE teams t SET ${column} = asked.budget FROM asked WHERE t.id = asked.id)
         UPDATE budgets b SET "limit" = asked.budget FROM asked
          WHERE b.holder_id = asked.id AND b.period = $2 AND b.period_start = budget_period_start($2, now())`,
        [JSON.stringify(rows), period],
      );
    }
  }

  private async handOver(jobs: Jobs<'handOver'>): Promise<void> {
    for (const { world, step } of jobs) world.model.keys[step.key]!.holders = step.holders;
    await handOver(
      this.bench,
      jobs.map(({ world: { keyIds, holderIds }, step: { key, holders } }) => {
        return { key: keyIds[key]!, holders: holders.map((holder) => holderIds[holder]) };
      }),
    );
  }

  private async crash(jobs: Jobs<'crash'>): Promise<void> {
    const rows = jobs.flatMap(({ world, step: { pick, what } }) =>
      world
        .pick(pick)
        .filter(({ open }) => open)
        .map((call) => ({ id: call.request.id, gone: what === 'all', lost: world.model.lose(call, what).toString() })),
    );
    await this.bench.query(
      `WITH lost AS (SELECT o.*, r.lost, r.gone FROM json_to_recordset($1) AS r (id text, gone boolean, lost bigint)
                       JOIN open_calls o USING (id)),
            gone AS (DELETE FROM open_calls o USING lost WHERE o.id = lost.id AND lost.gone),
            kept AS (UPDATE open_calls o SET hold = o.hold - lost.lost FROM lost WHERE o.id = lost.id AND NOT lost.gone),
            keys AS (UPDATE api_keys k SET held = k.held - lost.lost FROM lost WHERE k.id = lost.key_id),
            counts AS (SELECT split_part(n, ' ', 1) AS holder_id, split_part(n, ' ', 2) AS period,
                              split_part(n, ' ', 3)::date AS period_start, sum(lost.lost) AS lost
                         FROM lost, unnest(budget_names(key_id, budget_day, budget_week, budget_month, member_id, team_id,
                                                        counted_on)) n GROUP BY 1, 2, 3),
            budgets AS (UPDATE budgets b SET held = b.held - counts.lost FROM counts
                         WHERE (b.holder_id, b.period, b.period_start) = (counts.holder_id, counts.period, counts.period_start))
       UPDATE wallets w SET held = w.held - lost.lost, holds = w.holds - lost.gone::int FROM lost
        WHERE w.account_id = lost.account_id`,
      [JSON.stringify(rows)],
    );
  }

  /**
   * Moves everything on record by 400 years, which are whole weeks, so that every period differs now. Ahead, because
   * years before Christ are written with a space.
   */
  private async passTime(worlds: readonly World[]): Promise<void> {
    const days = 146_097;
    for (const table of ['open_calls', 'calls']) {
      await this.bench.query(
        `UPDATE ${table} SET budget_day = budget_day + $2::int, budget_week = budget_week + $2::int,
                             budget_month = budget_month + $2::int, counted_on = counted_on + $2::int
          WHERE account_id = ANY ($1)`,
        [worlds.map(({ accountId }) => accountId), days],
      );
    }
    // By way of a time far away, or a row would meet one that has not moved yet.
    const holders = worlds.flatMap(({ keyIds, holderIds }) => [...keyIds, ...holderIds]);
    for (const moved of [100 * days, -99 * days]) {
      await this.bench.query(
        `UPDATE budgets SET period_start = period_start + $2::int WHERE holder_id = ANY ($1) AND period <> 'lifetime'`,
        [holders, moved],
      );
    }
    for (const { model } of worlds) model.passTime();
  }
}
