/** What a client makes of an answer, in no dialect. A stream that breaks the grammar of its dialect is not heard at all. */

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
