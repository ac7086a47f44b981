/** A response as read by a client, in no particular protocol. Reading fails if a stream violates its grammar. */

import type { ScriptedStop, ScriptedUsage } from './scripted-content.js';

export interface NeutralResponse {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  /** Id, name and arguments. */
  readonly calls: readonly string[];
  readonly stop: ScriptedStop | 'refusal';
  readonly usage: Omit<ScriptedUsage, 'cacheWrite'>;
}
