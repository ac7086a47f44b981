import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { actingAs, AuditLog, currentActor, SYSTEM } from '../../platform/audit/index.js';
import { Clock, nanos, type Nanos, newId } from '../../platform/shared/index.js';
import { ACCOUNT_NAME } from '../../usage/index.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import { PROVIDER, type TopUpOrder } from './top-up.js';

type NewProblem = Pick<PaymentProblem, 'id' | 'reference' | 'topUpId' | 'problem'>;
/** With the account of the order, deleted or not. */
type ResolvedProblem = Pick<PaymentProblem, 'reference' | 'problem'> & { readonly owner: string | null };
type ProblemRow = Omit<PaymentProblem, 'amount'> & { readonly amount: string | null };

const ADD = `
  INSERT INTO payment_problems (id, provider, reference, top_up_id, problem) VALUES ($1, '${PROVIDER}', $2, $3, $4)
  ON CONFLICT ON CONSTRAINT payment_problem_is_told_once DO NOTHING RETURNING id`;

/** Joins accounts for the addresses in the list. */
const UNRESOLVED = `
  SELECT p.id, p.reference, p.top_up_id AS "topUpId", p.problem, p.found_at AS "foundAt", t.amount,
         a.id AS "accountId", ${ACCOUNT_NAME} AS email
    FROM payment_problems p
    LEFT JOIN top_ups t ON t.id = p.top_up_id
    LEFT JOIN accounts a ON a.id = t.account_id AND a.state <> 'deleted'
   WHERE p.resolved_at IS NULL`;

const ALL = `${UNRESOLVED} ORDER BY p.found_at, p.id`;
const ONE = `${UNRESOLVED} AND p.id = $1`;
/** Newest first; of those newer than the position, the closest ones. */
const PAGE = (side: string, order: string): string => `
  ${UNRESOLVED} AND ($1::text IS NULL OR p.id ${side} $1) ORDER BY p.id ${order} LIMIT $2`;
const OLDER = PAGE('<', 'DESC');
const NEWER = PAGE('>', 'ASC');

const WAS_RESOLVED = `
  SELECT 1 FROM payment_problems
   WHERE provider = '${PROVIDER}' AND reference = $1 AND problem = $2 AND resolved_at IS NOT NULL`;

const RESOLVE = `
  UPDATE payment_problems p SET resolved_at = $2 WHERE p.id = $1 AND p.resolved_at IS NULL
  RETURNING p.reference, p.problem, (SELECT account_id FROM top_ups t WHERE t.id = p.top_up_id) AS owner`;

/** Facts of the provider that could not be applied, until an administrator resolves them. */
@Injectable()
export class PaymentProblemRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Returns false if the same problem was recorded before. */
  async add({ id, reference, topUpId, problem }: NewProblem, manager: EntityManager): Promise<boolean> {
    return (await manager.query<unknown[]>(ADD, [id, reference, topUpId, problem])).length === 1;
  }

  /** Unresolved problems, oldest first. */
  async unresolved(): Promise<readonly PaymentProblem[]> {
    return problemsIn(await this.dataSource.query<ProblemRow[]>(ALL));
  }

  /** A page of them, newest first. */
  async page({ before, after }: ProblemPosition, size: number): Promise<readonly PaymentProblem[]> {
    const sql = after === undefined ? OLDER : NEWER;
    const rows = await this.dataSource.query<ProblemRow[]>(sql, [after ?? before ?? null, size]);
    return problemsIn(rows).toSorted((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Undefined: no such problem, or resolved. */
  async find(id: string): Promise<PaymentProblem | undefined> {
    return problemsIn(await this.dataSource.query<ProblemRow[]>(ONE, [id]))[0];
  }

  async wasResolved(reference: string, problem: string): Promise<boolean> {
    return (await this.dataSource.query<unknown[]>(WAS_RESOLVED, [reference, problem])).length > 0;
  }

  /** The resolved problem; undefined: no such problem, or resolved before. */
  async resolve(id: string, at: Date, manager: EntityManager): Promise<ResolvedProblem | undefined> {
    return (await manager.query<[ResolvedProblem[], number]>(RESOLVE, [id, at]))[0][0];
  }
}

const problemsIn = (rows: readonly ProblemRow[]): readonly PaymentProblem[] =>
  rows.map((row) => ({ ...row, amount: row.amount === null ? null : nanos(BigInt(row.amount)) }));

/** Records facts that cannot be applied: once, logged, and shown to administrators until they resolve them. */
@Injectable()
export class PaymentProblems {
  private readonly logger = new Logger('Payments');

  constructor(
    private readonly problems: PaymentProblemRepository,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** @param problem text that follows the name of the fact */
  async note(
    fact: CheckoutFact | ReversalFact,
    problem: string,
    order: TopUpOrder | undefined,
    manager: EntityManager,
  ): Promise<void> {
    const reference = referenceOf(fact);
    const topUpId = order?.id ?? (fact.kind === 'checkout' ? fact.topUpId : '');
    const id = newId('prb', this.clock.now());
    if (!(await this.problems.add({ id, reference, topUpId, problem }, manager))) return;
    this.logger.error(`The payment ${reference} moved no money: ${problem}.`);
    const object = { kind: 'payment', id, name: reference, ...(order && { owner: order.accountId }) } as const;
    await actingAs(currentActor() ?? SYSTEM, () =>
      this.audit.record({ action: 'refused', object, lines: [problem] }, manager),
    );
  }

  /** Whether this was recorded and resolved. */
  wasResolved(fact: CheckoutFact | ReversalFact, problem: string): Promise<boolean> {
    return this.problems.wasResolved(referenceOf(fact), problem);
  }

  /** Unresolved problems, oldest first. */
  unresolved(): Promise<readonly PaymentProblem[]> {
    return this.problems.unresolved();
  }

  /** A page of them, newest first. */
  page(position: ProblemPosition, size: number): Promise<readonly PaymentProblem[]> {
    return this.problems.page(position, size);
  }

  /** Undefined: no such problem, or resolved. */
  find(id: string): Promise<PaymentProblem | undefined> {
    return this.problems.find(id);
  }

  /** Marks a problem as resolved. @param reason what was done @returns whether there was such a problem */
  resolve(id: string, reason: string): Promise<boolean> {
    return this.problems.transaction(async (manager) => {
      const resolved = await this.problems.resolve(id, this.clock.date(), manager);
      if (resolved === undefined) return false;
      const { reference, problem, owner } = resolved;
      const object = { kind: 'payment', id, name: reference, ...(owner !== null && { owner }) } as const;
      await this.audit.record({ action: 'resolved', object, lines: [problem], reason }, manager);
      return true;
    });
  }
}

/** The provider's ID of the object. */
const referenceOf = (fact: CheckoutFact | ReversalFact): string =>
  fact.kind === 'checkout' ? fact.reference : fact.reversal.id;

/** A fact that could not be applied: it contradicts its order, or the account was deleted. */
export interface PaymentProblem {
  readonly id: string;
  /** The provider's ID of the object. */
  readonly reference: string;
  /** As reported by the provider; may not be an order of ours. */
  readonly topUpId: string;
  readonly problem: string;
  readonly foundAt: Date;
  /** Amount of the order; null: no such order. */
  readonly amount: Nanos | null;
  /** Owner of the order; null: none, or deleted. */
  readonly accountId: string | null;
  readonly email: string | null;
}

/** Position in the list; neither member: the newest. */
interface ProblemPosition {
  readonly before?: string;
  readonly after?: string;
}
