import type { Account } from '../../../auth/index.js';
import type { OwnKey } from '../../../keys/index.js';
import type { DryRunAnswer, DryRunQuestion } from '../../../relay/index.js';

/** A dry run with all that its words are made of. */
export interface AnsweredRouting {
  readonly question: DryRunQuestion;
  readonly answer: DryRunAnswer;
  readonly account: Account;
  /** Undefined: a new one. */
  readonly key: OwnKey | undefined;
  readonly timeZone: string;
}
