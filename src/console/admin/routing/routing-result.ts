import type { Account } from '../../../auth/index.js';
import type { OwnKey } from '../../../keys/index.js';
import type { DryRunResult, DryRunQuestion } from '../../../relay/index.js';

/** A dry run with everything that its page shows. */
export interface RoutingResult {
  readonly question: DryRunQuestion;
  readonly answer: DryRunResult;
  readonly account: Account;
  /** Undefined: a new key. */
  readonly key: OwnKey | undefined;
  readonly timeZone: string;
}
