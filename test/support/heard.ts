/** What a client makes of an answer, in no protocol. A stream that breaks the grammar of its protocol is not heard at all. */

import type { ScriptedStop, ScriptedUsage } from './scripted-content.js';

export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  /** Id, name and arguments. */
  readonly calls: readonly string[];
  readonly stop: ScriptedStop | 'refusal';
  readonly usage: Omit<ScriptedUsage, 'cacheWrite'>;
}
