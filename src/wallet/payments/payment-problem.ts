import type { Nanos } from '../../platform/shared/index.js';

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
export interface ProblemPosition {
  readonly before?: string;
  readonly after?: string;
}
