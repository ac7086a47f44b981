import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { actingAs, AuditLog, currentActor, SYSTEM } from '../../platform/audit/index.js';
import { Clock, nanos, type Nanos, newId } from '../../platform/shared/index.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import { PROVIDER, type TopUpOrder } from './top-up.js';

type NewProblem = Pick<PaymentProblem, 'id' | 'reference' | 'topUpId' | 'problem'>;
/** With the account of its order, deleted or not. */
type ResolvedProblem = Pick<PaymentProblem, 'reference' | 'problem'> & { readonly owner: string | null };
type ProblemRow = Omit<PaymentProblem, 'amount'> & { readonly amount: string | null };

const ADD = `
  INSERT INTO payment_problems (id, provider, reference, top_up_id, problem) VALUES ($1, '${PROVIDER}', $2, $3, $4)
  ON CONFLICT ON CONSTRAINT payment_problem_is_told_once DO NOTHING RETURNING id`;

/** Reads accounts for the addresses that stand in the list. */
const UNRESOLVED = `
  SELECT p.id, p.reference, p.top_up_id AS "topUpId", p.problem, p.found_at AS "foundAt", t.amount,
         a.id AS "accountId", a.email
    FROM payment_problems p
    LEFT JOIN top_ups t ON t.id = p.top_up_id
    LEFT JOIN accounts a ON a.id = t.account_id AND a.state <> 'deleted'
   WHERE p.resolved_at IS NULL`;

const ALL = `${UNRESOLVED} ORDER BY p.found_at, p.id`;
const ONE = `${UNRESOLVED} AND p.id = $1`;
/** In the order of the list, newest first; of those newer than a place, the nearest to it. */
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

/** What the provider has told and could not be entered, until somebody has seen to it. */
@Injectable()
export class PaymentProblemRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Whether nobody had said so of this object before. */
  async add({ id, reference, topUpId, problem }: NewProblem, manager: EntityManager): Promise<boolean> {
    return (await manager.query<unknown[]>(ADD, [id, reference, topUpId, problem])).length === 1;
  }

  /** Those that nobody has resolved, oldest first. */
  async unresolved(): Promise<readonly PaymentProblem[]> {
    return problemsIn(await this.dataSource.query<ProblemRow[]>(ALL));
  }

  /** The same page by page, newest first. */
  async page({ before, after }: ProblemPosition, size: number): Promise<readonly PaymentProblem[]> {
    const sql = after === undefined ? OLDER : NEWER;
    const rows = await this.dataSource.query<ProblemRow[]>(sql, [after ?? before ?? null, size]);
    return problemsIn(rows).toSorted((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Undefined: there is no such problem any more. */
  async find(id: string): Promise<PaymentProblem | undefined> {
    return problemsIn(await this.dataSource.query<ProblemRow[]>(ONE, [id]))[0];
  }

  async wasResolved(reference: string, problem: string): Promise<boolean> {
    return (await this.dataSource.query<unknown[]>(WAS_RESOLVED, [reference, problem])).length > 0;
  }

  /** What was resolved; undefined: there is no such problem any more. */
  async resolve(id: string, at: Date, manager: EntityManager): Promise<ResolvedProblem | undefined> {
    return (await manager.query<[ResolvedProblem[], number]>(RESOLVE, [id, at]))[0][0];
  }
}

const problemsIn = (rows: readonly ProblemRow[]): readonly PaymentProblem[] =>
  rows.map((row) => ({ ...row, amount: row.amount === null ? null : nanos(BigInt(row.amount)) }));

/** What the provider says that cannot be entered: noted once, logged, and shown to operators until they resolve it. */
@Injectable()
export class PaymentProblems {
  private readonly logger = new Logger('Payments');

  constructor(
    private readonly problems: PaymentProblemRepository,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** @param problem in words that follow the name of what was told */
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

  /** Whether this was noted, and an operator has seen to it. */
  wasResolved(fact: CheckoutFact | ReversalFact, problem: string): Promise<boolean> {
    return this.problems.wasResolved(referenceOf(fact), problem);
  }

  /** Those that nobody has resolved, oldest first. */
  unresolved(): Promise<readonly PaymentProblem[]> {
    return this.problems.unresolved();
  }

  /** The same page by page, newest first. */
  page(position: ProblemPosition, size: number): Promise<readonly PaymentProblem[]> {
    return this.problems.page(position, size);
  }

  /** Undefined: there is no such problem, or somebody has resolved it. */
  find(id: string): Promise<PaymentProblem | undefined> {
    return this.problems.find(id);
  }

  /** An operator has seen to it. @param reason what was done @returns whether there was such a problem */
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

/** What the provider calls what it told of. */
const referenceOf = (fact: CheckoutFact | ReversalFact): string =>
  fact.kind === 'checkout' ? fact.reference : fact.reversal.id;

/** What the provider said and could not be entered: it does not match its order, or the account was deleted. */
export interface PaymentProblem {
  readonly id: string;
  /** Of the provider's object. */
  readonly reference: string;
  /** As the provider says it, which may be of no order of ours. */
  readonly topUpId: string;
  readonly problem: string;
  readonly foundAt: Date;
  /** What was ordered; null: there is no such order here. */
  readonly amount: Nanos | null;
  /** Whose order it is; null: nobody's, or of an account that was deleted. */
  readonly accountId: string | null;
  readonly email: string | null;
}

/** Behind which problem a page of the list begins, or in front of which; neither: at the newest. */
interface ProblemPosition {
  readonly before?: string;
  readonly after?: string;
}
