import type { JsonField } from './json-members.js';

/** What the members of a request do beside asking for tokens of its model: read from the protocol's table of members. */
export interface RequestDemands {
  /** A speed other than the standard one (`fast`), and the region of inference that is named, as written. */
  readonly speed?: string | undefined;
  readonly geo?: string | undefined;
  /** The longest prompt cache lifetime that is asked for where it has a price of its own: `12h`. */
  readonly cacheLifetime?: string | undefined;
  /** Models that may serve the request, or a part of it, beside the one it asks for. */
  readonly models: readonly NamedModel[];
  /** Tools that the upstream runs, each with a fee or tokens of its own. */
  readonly hostedTools: readonly DemandedTool[];
  /** At most so many uses of hosted tools together; undefined: not limited by the client. */
  readonly maxToolCalls?: number | undefined;
  /** The upstream may run the model more than once: compaction, an advisor. */
  readonly addsPasses: boolean;
  /** The response may name state that the upstream created for it: a container, a file, a message of a thread. */
  readonly createsState?: boolean;
  /** Ids of state that is kept upstream. */
  readonly scopedIds: readonly ScopedId[];
  /** Names of members in no table, by path: `foo`, `reasoning.bar`. */
  readonly unknownMembers: readonly string[];
}

/** A model that a member names. */
export interface NamedModel {
  /** As errors name the member: `fallbacks[0].model`. */
  readonly path: string;
  readonly name: string;
  /** Where the name stands in the body, to be replaced by the upstream's. */
  readonly field: JsonField;
  /** `alternative`: serves the whole request in place of its model. `helper`: serves passes beside it. */
  readonly role: 'alternative' | 'helper';
  /** Output tokens of one pass, and passes; undefined: not limited by the client. */
  readonly outputLimit?: number | undefined;
  readonly maxUses?: number | undefined;
}

/** A tool that the upstream runs. */
export interface DemandedTool {
  /** As fees name it: `web_search`. */
  readonly name: string;
  readonly path: string;
  /** Undefined: not limited by the client. */
  readonly maxUses?: number | undefined;
}

/** What kind of state an id names. */
export type ScopedKind =
  | 'response'
  | 'item'
  | 'conversation'
  | 'file'
  | 'container'
  | 'thread'
  | 'vector_store'
  | 'prompt'
  | 'skill'
  | 'tunnel';

/** The id of state that is kept upstream, which only the account that made it may use. */
export interface ScopedId {
  readonly kind: ScopedKind;
  readonly id: string;
  /** As errors name the member: `container.id`. */
  readonly path: string;
}

/** State that an upstream created for a call, as its response names it. */
export interface CreatedState {
  readonly kind: ScopedKind;
  readonly id: string;
  /** In milliseconds since 1970, where the upstream says when it ends. */
  readonly endsAt?: number | undefined;
}
