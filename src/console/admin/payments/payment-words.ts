import type { PaymentProblem } from '../../../wallet/index.js';

/** What the list is called, on its page and on those that lead back to it. */
export const TITLE = 'Payment problems';

/** A problem as pages show it: `what` is wrong, as a sentence without its end. */
export const problemView = ({ problem, ...rest }: PaymentProblem) => ({
  ...rest,
  what: problem.charAt(0).toUpperCase() + problem.slice(1),
});
