import type { AdmissionRequest } from '../../src/billing/admission.js';
import type { CallRow } from '../../src/billing/call-row.js';
import { newId, nanos } from '../../src/shared/index.js';
import { DebitTooLarge, WalletService } from '../../src/wallet/index.js';
import type { BillingBench } from './billing-bench.js';
import { finished } from './billing-rows.js';
import { type ModelCall, MoneyModel, PERIODS, type Wish } from './money-model.js';

type Limit = bigint | null;

/** One thing that happens to one account; `pick` chooses among the calls it has begun so far. */
export type Step =
  | { readonly kind: 'admit'; readonly wishes: readonly (Wish & { readonly key: number })[] }
  /** A call is given up and settled before its admission is carried out. */
  | { readonly kind: 'overtaken'; readonly wish: Wish & { readonly key: number } }
  | { readonly kind: 'extend'; readonly calls: readonly { pick: number; want: bigint; heard: boolean }[] }
  | { readonly kind: 'settle'; readonly calls: readonly { pick: number; cost: bigint; status: CallRow['status'] }[] }
  | { readonly kind: 'sweep'; readonly calls: readonly { pick: number }[] }
  | { readonly kind: 'move'; readonly amount: bigint }
  | { readonly kind: 'takeBack'; readonly amount: bigint }
  | { readonly kind: 'quota'; readonly key: number; readonly amount: Limit }
  | { readonly kind: 'limit'; readonly key: number; readonly period: number; readonly amount: Limit }
  | { readonly kind: 'crash'; readonly pick: number; readonly what: 'all' | 'extensions' }
  | { readonly kind: 'release' | 'passTime' };

export interface Start {
  readonly balance: bigint;
  readonly keys: readonly { readonly quota: Limit; readonly limits: readonly Limit[] }[];
}

interface Call extends ModelCall {
  readonly request: AdmissionRequest;
}

/** One account in the database, and the model of it. */
export class World {
  readonly accountId = newId('acc', Date.now());
  readonly keyIds: readonly string[];
  readonly model: MoneyModel;

  constructor(start: Start) {
    this.model = new MoneyModel(
      start.balance,
      start.keys.map(({ quota, limits }) => MoneyModel.key(quota, limits)),
    );
    this.keyIds = start.keys.map(() => newId('key', Date.now()));
  }

  get calls(): Call[] {
    return this.model.calls as Call[];
  }

  pick(index: number): Call[] {
    return this.calls.length === 0 ? [] : [this.calls[index % this.calls.length]!];
  }

  /** What the database should say of this account. */
  get expected(): string {
    const { balance, held, holds, owed, keys } = this.model;
    return stateText({
      wallet: [balance, held, holds, owed],
      ledger: [balance, -owed],
      keys: keys.map(({ quota, used, held: onHold }) => [quota, used, onHold]),
      budgets: keys.flatMap(({ budgets }, key) =>
        PERIODS.flatMap((period) =>
          budgets
            .map((epoch) => epoch[period])
            .filter((budget) => budget.used > 0n || budget.held > 0n)
            .map((budget) => [key, period, budget.limit, budget.used, budget.held]),
        ),
      ),
      open: this.calls.flatMap(({ request, open }) => (open ? [[request.id, open.hold]] : [])),
      calls: this.calls.flatMap(({ request, row }) =>
        row ? [[request.id, row.status, row.cost, row.uncollected]] : [],
      ),
    });
  }
}

export const stateText = (state: Record<string, unknown>): string =>
  JSON.stringify(state, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

interface Job<S> {
  readonly world: World;
  readonly step: S;
}

type Doer<K extends Step['kind']> = (jobs: readonly Job<Extract<Step, { kind: K }>>[]) => Promise<void>;

/** What the database did not do as the model says it must. */
export class NotAsModelled extends Error {
  constructor(
    readonly world: World,
    what: string,
    got: unknown,
    expected: unknown,
  ) {
    super(`${what}\n  got      ${stateText({ got })}\n  expected ${stateText({ expected })}`);
  }
}

/** Carries out one step of many worlds at once, each kind of step as one batch, in database and model. */
export class MoneyStepper {
  /** Old enough for a hold of a settled call to be looked for. */
  private readonly createdAt = Date.now() - 120_000;
  private readonly doers: { readonly [K in Exclude<Step['kind'], 'release'>]: Doer<K> } = {
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
    move: (jobs) => this.move(jobs),
    takeBack: (jobs) => this.takeBack(jobs),
    quota: (jobs) => this.quota(jobs),
    limit: (jobs) => this.limit(jobs),
    crash: (jobs) => this.crash(jobs),
    passTime: (jobs) => this.passTime(jobs.map(({ world }) => world)),
  };

  constructor(
    private readonly bench: BillingBench,
    private readonly worlds: readonly World[],
  ) {}

  /** The step that each world takes now; undefined where it has none left. */
  async step(steps: readonly (Step | undefined)[]): Promise<void> {
    if (steps.some((step) => step?.kind === 'release')) await this.release();
    for (const [kind, doer] of Object.entries(this.doers)) {
      const jobs = steps.flatMap((step, index) => (step?.kind === kind ? [{ world: this.worlds[index]!, step }] : []));
      if (jobs.length > 0) await (doer as (jobs: readonly Job<Step>[]) => Promise<void>)(jobs);
    }
  }

  private request(world: World, { key, ...wish }: Wish & { readonly key: number }): AdmissionRequest {
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
    asked: readonly { readonly world: World; readonly wish: Wish & { readonly key: number }; readonly call?: Call }[],
  ): Promise<void> {
    const calls = asked.map(
      ({ world, wish, call }): Call =>
        call ?? { request: this.request(world, wish), key: wish.key, known: 0n, open: undefined, row: undefined },
    );
    const results = await this.bench.repository.admit(calls.map(({ request }) => request));
    asked.forEach(({ world, wish, call: again }, index) => {
      const call = calls[index]!;
      const { outcome, hold: amount } = results[index]!;
      compare(world, 'admission', { outcome, amount }, world.model.admit(call, wish));
      if (outcome === 'admitted' && !again) world.calls.push(call);
    });
  }

  private async overtake(jobs: readonly Job<Extract<Step, { kind: 'overtaken' }>>[]): Promise<void> {
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

  private async extend(jobs: readonly Job<Extract<Step, { kind: 'extend' }>>[]): Promise<void> {
    const asked = jobs.flatMap(({ world, step }) =>
      step.calls.flatMap(({ pick, ...rest }) => world.pick(pick).map((call) => ({ world, call, ...rest }))),
    );
    if (asked.length === 0) return;
    const results = await this.bench.repository.extend(
      asked.map(({ call, want }) => ({ admission: call.request, held: call.known, want })),
    );
    asked.forEach(({ world, call, want }, index) => {
      const { outcome, granted: amount } = results[index]!;
      compare(world, 'extension', { outcome, amount }, world.model.extend(call, want));
    });
    // An answer that is not heard leaves the process with what it knew.
    asked.forEach(({ call, heard }, index) => {
      if (heard) call.known += results[index]!.granted;
    });
  }

  private async settle(
    asked: readonly { world: World; pick: number; cost: bigint; status: CallRow['status'] }[],
  ): Promise<void> {
    await this.settleCalls(
      asked.flatMap(({ world, pick, cost, status }) => world.pick(pick).map((call) => ({ world, call, cost, status }))),
    );
  }

  private async settleCalls(
    asked: readonly { world: World; call: Call; cost: bigint; status: CallRow['status'] }[],
  ): Promise<void> {
    if (asked.length === 0) return;
    const results = await this.bench.repository.settle(
      asked.map(({ call, cost, status }) => finished(call.request, cost, { status })),
    );
    asked.forEach(({ world, call, cost, status }, index) =>
      compare(world, 'settlement', results[index], world.model.settle(call, cost, status)),
    );
    for (const { world } of asked) world.model.payOwed();
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

  private async move(jobs: readonly Job<Extract<Step, { kind: 'move' }>>[]): Promise<void> {
    const wallets = this.bench.app.get(WalletService);
    await someAtOnce(jobs, async ({ world, step: { amount } }) => {
      const { model } = world;
      if (amount === 0n) return;
      const refused = await wallets.credit(world.accountId, nanos(amount), 'test').then(
        () => false,
        (error: unknown) => {
          if (error instanceof DebitTooLarge) return true;
          throw error;
        },
      );
      compare(world, 'refused debit', refused, amount < 0n && model.free - model.owed + amount < 0n);
      if (refused) return;
      model.balance += amount;
      // What comes in pays debts; what is taken out leaves them as they are.
      if (amount > 0n) model.payOwed();
    });
  }

  private async takeBack(jobs: readonly Job<Extract<Step, { kind: 'takeBack' }>>[]): Promise<void> {
    const wallets = this.bench.app.get(WalletService);
    await someAtOnce(jobs, async ({ world, step: { amount } }) => {
      if (amount === 0n) return;
      await wallets.recordOwed(world.accountId, nanos(amount), 'test');
      world.model.takeBack(amount);
    });
  }

  private async quota(jobs: readonly Job<Extract<Step, { kind: 'quota' }>>[]): Promise<void> {
    const rows = jobs.map(({ world, step: { key, amount } }) => {
      return { key: world.keyIds[key], quota: world.model.quota(key, amount)?.toString() };
    });
    await this.bench.query(
      `UPDATE api_keys k SET quota = r.quota FROM json_to_recordset($1) AS r (key text, quota bigint) WHERE k.id = r.key`,
      [JSON.stringify(rows)],
    );
  }

  private async limit(jobs: readonly Job<Extract<Step, { kind: 'limit' }>>[]): Promise<void> {
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
         UPDATE key_budgets b SET "limit" = asked.budget FROM asked
          WHERE b.key_id = asked.key AND b.period = $2 AND b.period_start = budget_period_start($2, now())`,
        [JSON.stringify(rows), period],
      );
    }
  }

  private async crash(jobs: readonly Job<Extract<Step, { kind: 'crash' }>>[]): Promise<void> {
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
            budgets AS (UPDATE key_budgets b SET held = b.held - lost.lost FROM lost WHERE b.key_id = lost.key_id AND
              (b.period, b.period_start) IN (('day', budget_day), ('week', budget_week), ('month', budget_month)))
       UPDATE wallets w SET held = w.held - lost.lost, holds = w.holds - lost.gone::int FROM lost
        WHERE w.account_id = lost.account_id`,
      [JSON.stringify(rows)],
    );
  }

  /** Everything that is on record for these keys was so long ago that every period is another one now. */
  private async passTime(worlds: readonly World[]): Promise<void> {
    const keys = [worlds.flatMap(({ keyIds }) => keyIds)];
    for (const table of ['open_calls', 'calls']) {
      await this.bench.query(
        `UPDATE ${table} SET budget_day = budget_day - 40, budget_week = budget_week - 42,
                             budget_month = (budget_month - interval '2 months')::date WHERE account_id = ANY ($1)`,
        [worlds.map(({ accountId }) => accountId)],
      );
    }
    // By way of a time long past, or a row would meet an older one that has not moved yet.
    for (const [days, weeks, months] of [
      [40_000, 6000, 2400],
      [-39_960, -5994, -2398],
    ]) {
      await this.bench.query(
        `UPDATE key_budgets SET period_start = CASE period WHEN 'day' THEN period_start - $2::int
            WHEN 'week' THEN period_start - 7 * $3::int ELSE (period_start - make_interval(months => $4))::date END
          WHERE key_id = ANY ($1)`,
        [...keys, days, weeks, months],
      );
    }
    for (const { model } of worlds) model.passTime();
  }
}

function compare(world: World, what: string, got: unknown, expected: unknown): void {
  if (stateText({ got }) !== stateText({ got: expected })) throw new NotAsModelled(world, what, got, expected);
}

/** For those who ask services: each takes a connection, of which there are few. */
async function someAtOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}
