import type { JsonFields } from './json-fields.js';
import type { JsonField } from './json-members.js';

/** Reasoning efforts of the protocols, ascending. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Requested reasoning effort; unknown values are kept as written. */
export type Effort = (typeof EFFORTS)[number] | (string & {});

/** Effects of a request's members beyond its model's tokens, from the protocol's member table. */
export interface RequestDemands {
  /** A non-standard speed (`fast`), and the inference region, as written. */
  readonly speed?: string | undefined;
  readonly geo?: string | undefined;
  /** The longest requested cache lifetime with its own price: `12h`. */
  readonly cacheLifetime?: string | undefined;
  /** Other models that may serve the request or parts of it. */
  readonly models: readonly NamedModel[];
  /** Hosted tools, with fees or tokens of their own. */
  readonly hostedTools: readonly DemandedTool[];
  /** Max uses of all hosted tools; undefined: no client limit. */
  readonly maxToolCalls?: number | undefined;
  /** The upstream may run the model more than once: compaction, advisors. */
  readonly addsPasses: boolean;
  /** The response may name created state: a container, a file, a message of a thread. */
  readonly createsState?: boolean;
  /** References to upstream state. */
  readonly scopedIds: readonly ScopedId[];
  /** Members missing in the table, by path: `foo`, `reasoning.bar`. */
  readonly unknownMembers: readonly string[];
}

/** A model named by a member. */
export interface NamedModel {
  /** As in errors: `fallbacks[0].model`. */
  readonly path: string;
  readonly name: string;
  /** Position of the name, to be replaced by the upstream's. */
  readonly field: JsonField;
  /** `alternative`: may serve the whole request. `helper`: serves additional passes. */
  readonly role: 'alternative' | 'helper';
  /** Output tokens per pass, and passes; undefined: no client limit. */
  readonly outputLimit?: number | undefined;
  readonly maxUses?: number | undefined;
  /** Instead of the request's; null: the model's default. */
  readonly effort?: Effort | null | undefined;
}

/** A hosted tool. */
export interface DemandedTool {
  /** Name of its fee: `web_search`. */
  readonly name: string;
  readonly path: string;
  /** Undefined: no client limit. */
  readonly maxUses?: number | undefined;
}

/** Kind of state an ID refers to. */
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
  | 'tunnel'
  | 'cached_content';

/** A reference to upstream state, which only the owning account may use. */
export interface ScopedId {
  readonly kind: ScopedKind;
  readonly id: string;
  /** As in errors: `container.id`. */
  readonly path: string;
}

const IN_PROMPT = /^(?:(?:input|messages)\[|(?:file_id|container_id)$)/;

/** Whether a tool or an ID is in content that may be stored and sent again, instead of in a member of the request. */
export const isInPrompt = ({ path }: DemandedTool | ScopedId): boolean => IN_PROMPT.test(path);

/** State created by an upstream, as named in its response. */
export interface CreatedState {
  readonly kind: ScopedKind;
  readonly id: string;
  /** Expiry in Unix ms, if reported. */
  readonly endsAt?: number | undefined;
}

/** Collects the demands of one request. */
export class Demands {
  speed: string | undefined;
  geo: string | undefined;
  cacheLifetime: string | undefined;
  maxToolCalls: number | undefined;
  addsPasses = false;
  createsState = false;
  readonly models: NamedModel[] = [];
  readonly tools: DemandedTool[] = [];
  readonly scopedIds: ScopedId[] = [];
  readonly unknown: string[] = [];

  constructor(readonly fields: JsonFields) {}

  result(): RequestDemands | undefined {
    const { speed, geo, cacheLifetime, maxToolCalls, models, tools, scopedIds, unknown } = this;
    const { addsPasses, createsState } = this;
    const lists = models.length + tools.length + scopedIds.length + unknown.length;
    if (lists === 0 && !addsPasses && !createsState && (speed ?? geo ?? cacheLifetime ?? maxToolCalls) === undefined)
      return undefined;
    return {
      speed,
      geo,
      cacheLifetime,
      maxToolCalls,
      addsPasses,
      createsState,
      models,
      hostedTools: tools,
      scopedIds,
      unknownMembers: unknown,
    };
  }
}
