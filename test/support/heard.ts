/** What a client makes of an answer, in no dialect. A stream that breaks the grammar of its dialect is not heard at all. */

import { clientOf } from '../conformance/dialects/index.js';
import type { ScriptedStop, ScriptedUsage } from './scripted-content.js';
import type { JsonObject } from './scripted-steps.js';

export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  /** Id, name and arguments. */
  readonly calls: readonly string[];
  readonly stop: ScriptedStop | 'refusal';
  readonly usage: Omit<ScriptedUsage, 'cacheWrite'>;
}

/** Of a whole answer. */
export const heardIn = (client: string, body: JsonObject): Heard => clientOf(client).heard(body);

/** Of a stream that came to its end. For Chat Completions, one whose client has asked for usage. */
export const heardStreamed = (client: string, stream: string): Heard => clientOf(client).heardStream(stream);
