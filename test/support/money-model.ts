import type { PaymentModel } from './payment-model.js';

/**
 * What an account's money must be, written as plainly as the rules can be said, one call after the other. It shares
 * nothing with the program: the property test lets both do the same and compares them.
 */
export const PERIODS = ['day', 'week', 'month'] as const;
type Period = (typeof PERIODS)[number];

/** One period of one budget. */
interface ModelBudget {
  /** What an admission that it refuses says. */
  readonly name: 'budget' | 'member' | 'team';
  limit: bigint | null;
  used: bigint;
  held: bigint;
}
type Budgets = Record<Period, ModelBudget>;

interface ModelKey {
  quota: bigint | null;
  used: bigint;
  held: bigint;
  /** The budgets of now, and those of the periods before, latest first. */
  budgets: Budgets[];
  /** The member and team of the key: their places in `holders`. */
  holders: readonly number[];
}

/** A member or team. Its calls count in all periods, limited or not. */
interface ModelHolder {
  readonly lifetime: ModelBudget;
  /** As of a key. */
  readonly budgets: Budgets[];
}

export interface ModelCall {
  readonly key: number;
  /** What its process believes to hold. */
  known: bigint;
  open: { hold: bigint; counts: readonly ModelBudget[]; readonly first: bigint } | undefined;
  row: { status: string; cost: bigint; uncollected: bigint; counts: readonly ModelBudget[] } | undefined;
}

/** The allowance of one month; months are counted. */
interface ModelAllowance {
  readonly month: number;
  readonly granted: bigint;
  left: bigint;
  /** What calls, and debts paid out of what they released, have taken while it ran. */
  spent: bigint;
  /** Undefined while it runs. */
  expired: bigint | undefined;
}

export interface HoldRequest {
  readonly minimum: bigint;
  readonly base: bigint;
  readonly ceiling: bigint;
  readonly prompt: bigint;
}

const least = (first: bigint, ...others: bigint[]): bigint =>
  others.reduce((low, other) => (other < low ? other : low), first);
const notBelowZero = (amount: bigint): bigint => (amount < 0n ? 0n : amount);

export class MoneyModel {
  held = 0n;
  holds = 0;
  owed = 0n;
  /** What is given each month from now on. */
  monthly = 0n;
  /** The one that it is. */
  month = 0;
  readonly allowances: ModelAllowance[] = [];
  readonly calls: ModelCall[] = [];

  constructor(
    public balance: bigint,
    readonly keys: ModelKey[],
    readonly holders: readonly ModelHolder[] = [],
  ) {}

  static key(quota: bigint | null, limits: readonly (bigint | null)[], holders: readonly number[] = []): ModelKey {
    return { quota, used: 0n, held: 0n, budgets: [newBudgets('budget', limits)], holders };
  }

  /** @param limits of day, week, month and lifetime */
  static holder(name: 'member' | 'team', limits: readonly (bigint | null)[]): ModelHolder {
    const lifetime = { name, limit: limits[3] ?? null, used: 0n, held: 0n };
    return { lifetime, budgets: [newBudgets(name, limits)] };
  }

  get free(): bigint {
    return this.balance - this.held;
  }

  /** @returns the outcome and the hold */
  admit(call: ModelCall, wish: HoldRequest): { outcome: string; amount: bigint } {
    if (this.owed > 0n) return { outcome: 'owed', amount: 0n };
    const counts = this.budgetsOfNow(call.key);
    const bounds = this.bounds(call.key, counts);
    const eighth = wish.prompt + this.free / 8n;
    const wanted = least(wish.ceiling, wish.base > eighth ? wish.base : eighth);
    const hold = least(wanted, ...bounds.map(({ left }) => left));
    if (hold < wish.minimum) return { outcome: tightest(bounds), amount: 0n };
    call.open = { hold: 0n, counts, first: hold };
    call.known = hold;
    this.holds += 1;
    this.hold(call, hold);
    return { outcome: 'admitted', amount: hold };
  }

  /** @returns the outcome and what was granted */
  extend(call: ModelCall, want: bigint): { outcome: string; amount: bigint } {
    if (!call.open && call.row) return { outcome: 'closed', amount: 0n };
    if (this.owed > 0n) return { outcome: 'owed', amount: 0n };
    const counts = call.open?.counts ?? this.budgetsOfNow(call.key);
    const bounds = this.bounds(call.key, counts);
    const had = call.open?.hold ?? 0n;
    const more = least(call.known + want - had, ...bounds.map(({ left }) => left));
    const granted = least(want, had + more - call.known);
    if (granted <= 0n) return { outcome: tightest(bounds), amount: 0n };
    if (!call.open) {
      call.open = { hold: 0n, counts, first: more };
      this.holds += 1;
    }
    if (more > 0n) this.hold(call, more);
    return { outcome: 'extended', amount: granted };
  }

  /** @returns what was collected; undefined when the call had been settled before */
  settle(call: ModelCall, cost: bigint, status: string): bigint | undefined {
    const again = call.row && !(call.row.status === 'interrupted' && status !== 'interrupted');
    const counts = call.open?.counts ?? call.row?.counts ?? (cost > 0n ? this.budgetsOfNow(call.key) : []);
    // The hold comes back first: then what is free is all that may be taken.
    this.release(call);
    if (again) return undefined;
    const collected = least(cost, ...this.bounds(call.key, counts).map(({ left }) => left));
    this.spend(collected);
    for (const account of [this.keys[call.key]!, ...counts]) account.used += collected;
    call.row = { status, cost: collected, uncollected: cost - collected, counts };
    return collected;
  }

  /** At the end of each statement that settles something of this account. */
  payOwed(): void {
    const paid = least(this.owed, this.free);
    this.owed -= paid;
    this.spend(paid);
  }

  /** Money comes in, and whatever is free then pays what is owed. */
  comeIn(amount: bigint): void {
    this.balance += amount;
    const paid = least(this.owed, this.free);
    this.owed -= paid;
    this.takeOut(paid);
  }

  /** A payment is taken back: what is free goes at once, the rest is owed, as all that was owed before. */
  takeBack(amount: bigint): void {
    const taken = least(this.owed + amount, this.free);
    this.takeOut(taken);
    this.owed += amount - taken;
  }

  /** Anything but a call takes other money before the allowance. */
  takeOut(amount: bigint): void {
    this.balance -= amount;
    if (this.running) this.running.left = least(this.running.left, this.balance);
  }

  /** Paid once, however often that is told. */
  pay(payment: PaymentModel): void {
    if (payment.paid) return;
    payment.paid = true;
    this.comeIn(payment.amount);
    this.adjust(payment);
  }

  /** What a payer has back of a payment, the wallet gives up or owes; what they give back again comes in. */
  adjust(payment: PaymentModel): void {
    if (!payment.paid) return;
    const more = payment.withPayer - payment.takenBack;
    payment.takenBack += more;
    if (more > 0n) this.takeBack(more);
    else this.comeIn(-more);
  }

  allow(monthly: bigint): void {
    this.monthly = monthly;
    this.turn();
  }

  /** The month is seen to be the one that it is. What is on hold stays; nothing is given twice, nor for months gone by. */
  turn(): void {
    const { running, monthly, month } = this;
    if (running && running.month < month) {
      running.expired = least(running.left, this.free);
      this.balance -= running.expired;
    }
    if (monthly === 0n || this.allowances.some((given) => given.month >= month)) return;
    const before = this.balance;
    this.comeIn(monthly);
    const left = notBelowZero(this.balance - before);
    this.allowances.push({ month, granted: monthly, left, spent: 0n, expired: undefined });
  }

  /** The server crashed and forgot the call, or what was added to its hold. */
  lose(call: ModelCall, what: 'all' | 'extensions'): bigint {
    if (!call.open) return 0n;
    const lost = what === 'all' ? call.open.hold : call.open.hold - call.open.first;
    if (what === 'all') this.release(call);
    else this.hold(call, -lost);
    return lost;
  }

  limit(key: number, period: Period, amount: bigint | null): bigint | null {
    return setLimit(this.keys[key]!.budgets[0]![period], amount);
  }

  limitHolder(holder: number, period: Period | 'lifetime', amount: bigint | null): bigint | null {
    const { lifetime, budgets } = this.holders[holder]!;
    return setLimit(period === 'lifetime' ? lifetime : budgets[0]![period], amount);
  }

  quota(key: number, amount: bigint | null): bigint | null {
    const row = this.keys[key]!;
    row.quota = amount !== null && amount < row.used + row.held ? row.used + row.held : amount;
    return row.quota;
  }

  passTime(): void {
    for (const { budgets } of [...this.keys, ...this.holders]) {
      const [{ day, week, month }] = budgets as [Budgets];
      budgets.unshift(newBudgets(day.name, [day.limit, week.limit, month.limit]));
    }
  }

  private get running(): ModelAllowance | undefined {
    return this.allowances.find(({ expired }) => expired === undefined);
  }

  /** Calls take the allowance before any other money. */
  private spend(amount: bigint): void {
    this.balance -= amount;
    if (!this.running) return;
    this.running.left = notBelowZero(this.running.left - amount);
    this.running.spent += amount;
  }

  private budgetsOfNow(key: number): ModelBudget[] {
    const { budgets, holders } = this.keys[key]!;
    const own = PERIODS.map((period) => budgets[0]![period]).filter(({ limit }) => limit !== null);
    const shared = holders.flatMap((index) => {
      const { lifetime, budgets: ofHolder } = this.holders[index]!;
      return [lifetime, ...PERIODS.map((period) => ofHolder[0]![period])];
    });
    return [...own, ...shared];
  }

  /** Everything that bounds a call, and what is left of it. */
  private bounds(key: number, counts: readonly ModelBudget[]): { name: string; left: bigint }[] {
    const { quota, used, held } = this.keys[key]!;
    return [
      { name: 'wallet', left: this.free },
      ...(quota === null ? [] : [{ name: 'key', left: quota - used - held }]),
      ...counts.flatMap((budget) =>
        budget.limit === null ? [] : [{ name: budget.name, left: budget.limit - budget.used - budget.held }],
      ),
    ];
  }

  private hold(call: ModelCall, amount: bigint): void {
    call.open!.hold += amount;
    this.held += amount;
    for (const account of [this.keys[call.key]!, ...call.open!.counts]) account.held += amount;
  }

  private release(call: ModelCall): void {
    if (!call.open) return;
    this.hold(call, -call.open.hold);
    this.holds -= 1;
    call.open = undefined;
  }
}

/** What has the least left; of equals the one that is named first. */
function tightest(bounds: readonly { name: string; left: bigint }[]): string {
  return bounds.reduce((low, bound) => (bound.left < low.left ? bound : low)).name;
}

function newBudgets(name: ModelBudget['name'], limits: readonly (bigint | null)[]): Budgets {
  const [day, week, month] = limits.map((limit) => ({ name, limit, used: 0n, held: 0n }));
  return { day: day!, week: week!, month: month! };
}

/** Never below what is used and held. */
function setLimit(budget: ModelBudget, amount: bigint | null): bigint | null {
  const used = budget.used + budget.held;
  budget.limit = amount !== null && amount < used ? used : amount;
  return budget.limit;
}
