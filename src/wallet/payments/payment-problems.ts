import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { actingAs, AuditLog, currentActor, SYSTEM } from '../../platform/audit/index.js';
import { Clock, newId } from '../../platform/shared/index.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import type { PaymentProblem, ProblemPosition } from './payment-problem.js';
import { PaymentProblemRepository } from './payment-problem.repository.js';
import type { TopUpOrder } from './top-up.js';

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
