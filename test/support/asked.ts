/**
 * What a client asks for, in no protocol, for tests that ask the same in all of them: written down for the relay, and read
 * again from what an upstream was sent.
 */

import type { JsonObject } from './scripted-steps.js';

export interface Asked {
  readonly system?: string;
  readonly turns: readonly AskedTurn[];
  readonly tools?: readonly AskedTool[];
  readonly toolChoice?: 'auto' | 'required' | 'none' | { readonly name: string };
  /** No two calls in one turn. */
  readonly isSerial?: boolean;
  /** The answer is to be JSON of this schema. */
  readonly schema?: JsonObject;
  readonly outputLimit?: number;
  /** Texts that end the answer. Only clients say them: what a vendor is told of them is told apart. */
  readonly stop?: readonly string[];
}

export type AskedTurn =
  | { readonly by: 'user'; readonly text: string; readonly image?: string }
  | { readonly by: 'assistant'; readonly text?: string; readonly calls?: readonly AskedCall[] }
  | { readonly by: 'tool'; readonly id: string; readonly text: string; readonly image?: string };

export interface AskedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface AskedTool {
  readonly name: string;
  readonly description?: string;
  readonly schema: JsonObject;
}

/** What a request to a vendor asks for; what it leaves open is absent, but for the usual choice of tools. */
export function askedOf(vendor: { asked(request: JsonObject): object }, request: JsonObject): Asked {
  const asked = JSON.parse(JSON.stringify(vendor.asked(request))) as Asked;
  return asked.tools === undefined ? asked : { toolChoice: 'auto', ...asked };
}
