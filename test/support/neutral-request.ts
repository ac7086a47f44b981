/** A request in no particular protocol. Client doubles write it; vendor doubles read it from the upstream request. */

import type { JsonObject } from './scripted-steps.js';

export interface NeutralRequest {
  readonly system?: string;
  readonly turns: readonly NeutralTurn[];
  readonly tools?: readonly NeutralTool[];
  readonly toolChoice?: 'auto' | 'required' | 'none' | { readonly name: string };
  /** At most one tool call in a turn. */
  readonly isSerial?: boolean;
  /** JSON schema of the response. */
  readonly schema?: JsonObject;
  readonly outputLimit?: number;
  /** Stop sequences. Only clients send them; those sent to vendors are tested separately. */
  readonly stop?: readonly string[];
}

export type NeutralTurn =
  | { readonly by: 'user'; readonly text: string; readonly image?: string }
  | { readonly by: 'assistant'; readonly text?: string; readonly calls?: readonly NeutralToolCall[] }
  | { readonly by: 'tool'; readonly id: string; readonly text: string; readonly image?: string };

export interface NeutralToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface NeutralTool {
  readonly name: string;
  readonly description?: string;
  readonly schema: JsonObject;
}

/** Reads an upstream request. Unset members are absent, except for the default choice of tools. */
export function neutralRequestOf(
  vendor: { readRequest(request: JsonObject): object },
  request: JsonObject,
): NeutralRequest {
  const read = JSON.parse(JSON.stringify(vendor.readRequest(request))) as NeutralRequest;
  return read.tools === undefined ? read : { toolChoice: 'auto', ...read };
}
