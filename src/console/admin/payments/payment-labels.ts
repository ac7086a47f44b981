import type { PaymentProblem } from '../../../wallet/index.js';

export const TITLE = 'Payment problems';

/** `what`: the problem, capitalized, without a period. */
export const problemView = ({ problem, ...rest }: PaymentProblem) => ({
  ...rest,
  what: problem.charAt(0).toUpperCase() + problem.slice(1),
});
