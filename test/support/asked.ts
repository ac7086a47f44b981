/**
 * What a client asks for, in no dialect, for tests that ask the same in all of them: written down for the relay, and read
 * again from what an upstream was sent.
 */

import { chatAsked, chatRequest } from './asked-chat.js';
import { messagesAsked, messagesRequest } from './asked-messages.js';
import { responsesAsked, responsesRequest } from './asked-responses.js';
import type { Dialect, JsonObject } from './scripted-upstream.js';

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

const WRITERS = { responses: responsesRequest, 'chat-completions': chatRequest, messages: messagesRequest };
const READERS = { responses: responsesAsked, 'chat-completions': chatAsked, messages: messagesAsked };

/** The request in a dialect. */
export const requestIn = (dialect: Dialect, asked: Asked): JsonObject => WRITERS[dialect](asked);

/** What an upstream of a dialect was asked for; what the request leaves open is absent, but for the usual choice of tools. */
export function askedIn(dialect: Dialect, request: JsonObject): Asked {
  const asked = JSON.parse(JSON.stringify(READERS[dialect](request))) as Asked;
  return asked.tools === undefined ? asked : { toolChoice: 'auto', ...asked };
}
