import type { Account } from '../../../auth/index.js';
import type { OwnKey } from '../../../keys/index.js';
import type { DryRunAnswer, DryRunQuestion } from '../../../relay/index.js';

/** A dry run with everything that its page shows. */
export interface AnsweredRouting {
  readonly question: DryRunQuestion;
  readonly answer: DryRunAnswer;
  readonly account: Account;
  /** Undefined: a new key. */
  readonly key: OwnKey | undefined;
  readonly timeZone: string;
}
