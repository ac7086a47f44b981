import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { nanos } from '../../platform/shared/index.js';
import type { PaymentProblem, ProblemPosition } from './payment-problem.js';
import { PROVIDER } from './top-up.js';

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
