const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** What was said of a refund or a dispute, and when. */
export interface ReversalReport {
  readonly amount: bigint;
  /** Whether the payer has the amount back. */
  readonly counts: boolean;
  readonly at: number;
}

/** A payment as it must stand, whatever was told of it in whichever order. Shares nothing with the program. */
export class PaymentModel {
  paid = false;
  /** What the wallet was asked to give back. */
  takenBack = 0n;
  private readonly told = new Map<string, ReversalReport>();

  constructor(readonly amount: bigint) {}

  /** What was said last of each refund and dispute holds; what is told late of an earlier time does not. */
  tell(name: string, telling: ReversalReport): void {
    const known = this.told.get(name);
    if (!known || known.at < telling.at) this.told.set(name, telling);
  }

  /** What the payer has back by now, which is never more than was paid. */
  get withPayer(): bigint {
    const amounts = [...this.told.values()].filter(({ counts }) => counts).map(({ amount }) => amount);
    return least(
      this.amount,
      amounts.reduce((sum, amount) => sum + amount, 0n),
    );
  }
}
