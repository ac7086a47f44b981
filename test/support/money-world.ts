import type { AdmissionRequest } from '../../src/relay/billing/admission.js';
import type { CallRow } from '../../src/relay/billing/call-row.js';
import { newId } from '../../src/platform/shared/index.js';
import { type ModelCall, MoneyModel, PERIODS, type HoldRequest } from './money-model.js';
import { PaymentModel } from './payment-model.js';

type Limit = bigint | null;

/** What the provider says of one of two refunds, or of a dispute; `late`: how many tellings ago it was so. */
export interface ProviderReversal {
  readonly by: 'refund' | 'another' | 'dispute';
  readonly amount: bigint;
  readonly counts: boolean;
  readonly late: number;
}

/** One thing that happens to one account; `pick` chooses among the calls it has begun so far. */
export type Step =
  | { readonly kind: 'admit'; readonly wishes: readonly (HoldRequest & { readonly key: number })[] }
  /** A call is given up and settled before its admission is carried out. */
  | { readonly kind: 'overtaken'; readonly wish: HoldRequest & { readonly key: number } }
  | { readonly kind: 'extend'; readonly calls: readonly { pick: number; want: bigint; received: boolean }[] }
  | { readonly kind: 'settle'; readonly calls: readonly { pick: number; cost: bigint; status: CallRow['status'] }[] }
  | { readonly kind: 'sweep'; readonly calls: readonly { pick: number }[] }
  | { readonly kind: 'move'; readonly amount: bigint }
  | { readonly kind: 'takeBack'; readonly amount: bigint }
  /** An operator sets what is given each month; 0: nothing. */
  | { readonly kind: 'allow'; readonly amount: bigint }
  /** So many months go by; 0: it is looked whether one has; less: the clock goes back. */
  | { readonly kind: 'turn'; readonly months: number }
  | { readonly kind: 'order'; readonly amount: bigint }
  | { readonly kind: 'pay'; readonly pick: number }
  | { readonly kind: 'reverse'; readonly pick: number; readonly said: readonly ProviderReversal[] }
  | { readonly kind: 'quota'; readonly key: number; readonly amount: Limit }
  | { readonly kind: 'limit'; readonly key: number; readonly period: number; readonly amount: Limit }
  /** The budget of the member (0) or the team (1) of an organization. */
  | { readonly kind: 'limitHolder'; readonly holder: number; readonly period: number; readonly amount: Limit }
  /** A key of an organization changes hands. */
  | { readonly kind: 'handOver'; readonly key: number; readonly holders: readonly number[] }
  | { readonly kind: 'crash'; readonly pick: number; readonly what: 'all' | 'extensions' }
  | { readonly kind: 'release' | 'passTime' };

export interface Start {
  readonly balance: bigint;
  readonly keys: readonly { readonly quota: Limit; readonly limits: readonly Limit[] }[];
  /** Limits of its member and its team, and which of these each key belongs to; undefined: a person. */
  readonly organization?:
    { readonly limits: readonly (readonly Limit[])[]; readonly keys: readonly (readonly number[])[] } | undefined;
}

export interface Call extends ModelCall {
  readonly request: AdmissionRequest;
}

/** An order of money, and what came of it. */
export interface Payment {
  readonly id: string;
  readonly model: PaymentModel;
  /** How often something that takes it back was told. */
  tellings: number;
}

/** One account in the database, and the model of it. */
export class World {
  readonly accountId = newId('acc', Date.now());
  readonly keyIds: readonly string[];
  /** IDs of the member and the team, if it is an organization. */
  readonly holderIds: readonly string[];
  readonly model: MoneyModel;
  readonly payments: Payment[] = [];

  constructor(start: Start) {
    this.model = new MoneyModel(
      start.balance,
      start.keys.map(({ quota, limits }, index) => MoneyModel.key(quota, limits, start.organization?.keys[index])),
      start.organization?.limits.map((limits, index) => MoneyModel.holder(index === 0 ? 'member' : 'team', limits)),
    );
    this.keyIds = start.keys.map(() => newId('key', Date.now()));
    this.holderIds = start.organization ? [newId('mem', Date.now()), newId('team', Date.now())] : [];
  }

  get calls(): Call[] {
    return this.model.calls as Call[];
  }

  pick(index: number): Call[] {
    return pickOf(this.calls, index);
  }

  order(id: string, amount: bigint): Payment {
    const payment = { id, model: new PaymentModel(amount), tellings: 0 };
    this.payments.push(payment);
    return payment;
  }

  pickPayment(index: number): Payment[] {
    return pickOf(this.payments, index);
  }

  /** What the database should say of this account. */
  get expected(): string {
    const { balance, held, holds, owed, keys, holders, allowances, monthly } = this.model;
    return stateText({
      wallet: [balance, held, holds, owed],
      ledger: [balance, -owed],
      allowance: [
        monthly,
        ...allowances.map(({ granted, left, spent, expired }) => [granted, left, spent, expired ?? null]),
      ],
      payments: this.payments.map(({ id, model: { paid, takenBack } }) => [id, paid, takenBack]),
      keys: keys.map(({ quota, used, held: onHold }) => [quota, used, onHold]),
      budgets: [...keys, ...holders].flatMap(({ budgets }, holder) =>
        PERIODS.flatMap((period) =>
          budgets
            .map((epoch) => epoch[period])
            .filter((budget) => budget.used > 0n || budget.held > 0n)
            .map((budget) => [holder, period, budget.limit, budget.used, budget.held]),
        ),
      ),
      lifetimes: holders.flatMap(({ lifetime: { limit, used, held: onHold } }, holder) =>
        used > 0n || onHold > 0n ? [[holder, limit, used, onHold]] : [],
      ),
      open: this.calls.flatMap(({ request, open }) => (open ? [[request.id, open.hold]] : [])),
      calls: this.calls.flatMap(({ request, row }) =>
        row ? [[request.id, row.status, row.cost, row.uncollected]] : [],
      ),
    });
  }
}

const pickOf = <Item>(items: readonly Item[], index: number): Item[] =>
  items.length === 0 ? [] : [items[index % items.length]!];

export const stateText = (state: Record<string, unknown>): string =>
  JSON.stringify(state, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

/** One step of one world. */
export interface Job<S> {
  readonly world: World;
  readonly step: S;
}

/** The steps of one kind. */
export type Jobs<Kind extends Step['kind']> = readonly Job<Extract<Step, { kind: Kind }>>[];

/** What the database did not do as the model says it must. */
export class ModelMismatchError extends Error {
  constructor(
    readonly world: World,
    what: string,
    got: unknown,
    expected: unknown,
  ) {
    super(`${what}\n  got      ${stateText({ got })}\n  expected ${stateText({ expected })}`);
  }
}

export function compare(world: World, what: string, got: unknown, expected: unknown): void {
  if (stateText({ got }) !== stateText({ got: expected })) throw new ModelMismatchError(world, what, got, expected);
}

/** For those who ask services: each takes a connection, of which there are few. */
export async function someAtOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}
