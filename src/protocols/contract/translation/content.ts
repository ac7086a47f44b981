import type { Effort } from '../request-demands.js';
import type { RawJson } from './json-tree.js';

// A request normalized across protocols. Readonly: created by the protocol that parsed it, and not modified by those
// that build from it. A member exists only if two protocols share its meaning.

export interface CallContent {
  /** System and developer texts before the conversation. */
  readonly lead: readonly TextPart[];
  /** Roles alternate between user and assistant. Tool results are in user turns. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** Tools run by the vendor of the client's protocol. */
  readonly hostedTools: readonly HostedTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelTools: boolean | undefined;
  /** Max output tokens, including reasoning. */
  readonly outputLimit: number | undefined;
  readonly stop: readonly string[];
  readonly sampling: Sampling;
  readonly reasoning: ReasoningRequest;
  readonly format: OutputFormat;
  /** `low`, `medium`, `high`, or as written. */
  readonly verbosity: string | undefined;
  /** The client's name of its end user. */
  readonly endUser: string | undefined;
  /** Shared by calls with the same prompt prefix. */
  readonly cacheKey: string | undefined;
  readonly serviceTier: string | undefined;
  /** Set if the client wants the conversation summarized. */
  readonly compaction?: CompactionRequest | undefined;
}

/** `only`: the response is the summary. `ahead`: the conversation is summarized first if it is long. */
export interface CompactionRequest {
  readonly mode: 'only' | 'ahead';
  /** Input tokens from which `ahead` applies; undefined: the default. */
  readonly threshold?: number | undefined;
  /** With `ahead`, the summary ends the response. */
  readonly pauses?: boolean | undefined;
  /** In place of the default prompt. */
  readonly instructions?: string | undefined;
  /** Items that the response repeats beside the summary, as JSON in the client's protocol. */
  readonly kept?: string | undefined;
}

/** A turn. `system` is an instruction within the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly Part[];
}

export type Part =
  TextPart | ImagePart | FilePart | AudioPart | RefusalPart | ReasoningPart | ToolCallPart | ToolResultPart;

export type ResponsePart = TextPart | RefusalPart | ReasoningPart | ToolCallPart | CompactionPart;

/** A cache breakpoint. */
export interface CacheMark {
  readonly ttl?: string | undefined;
}

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  readonly annotations?: readonly Annotation[] | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A citation, without positions, which protocols count differently. */
export interface Annotation {
  readonly url: string;
  readonly title: string;
}

export type Source =
  | { readonly from: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly from: 'url'; readonly url: string };

export interface ImagePart {
  readonly kind: 'image';
  readonly source: Source;
  readonly detail?: string | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A document. For plain text, `source` is the text. */
export interface FilePart {
  readonly kind: 'file';
  readonly source: Source | { readonly from: 'text'; readonly text: string };
  readonly name?: string | undefined;
  readonly cache?: CacheMark | undefined;
}

export interface AudioPart {
  readonly kind: 'audio';
  /** `mp3`, `wav`. */
  readonly format: string;
  readonly base64: string;
}

export interface RefusalPart {
  readonly kind: 'refusal';
  readonly text: string;
}

/** A summary that replaces the conversation before it. In requests it is the text of a user message. */
export interface CompactionPart {
  readonly kind: 'compaction';
  readonly text: string;
}

export interface ReasoningPart {
  readonly kind: 'reasoning';
  /** Readable reasoning; may be empty. */
  readonly text: string;
  /** Opaque data for its vendor. */
  readonly opaque?: OpaqueReasoning | undefined;
}

export interface OpaqueReasoning {
  /**
   * `signature` accompanies the text, `redacted` and `encrypted` replace it; `text` is unsigned, for any upstream of
   * the family that wants reasoning back. `summary` is no reasoning but a compaction, whose text any upstream can read.
   */
  readonly kind: 'signature' | 'redacted' | 'encrypted' | 'text' | 'summary';
  /** Only for upstreams of this family (`UpstreamTarget.family`). */
  readonly family: string;
  readonly data: string;
  /** The exact signed text. */
  readonly text: string;
  /** The vendor's ID of the item, if any. */
  readonly id?: string | undefined;
}

export interface ToolCallPart {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  /** JSON as written by the model, not empty; free text if `isFreeform`. */
  readonly arguments: string;
  readonly isFreeform?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

export interface ToolResultPart {
  readonly kind: 'tool-result';
  readonly id: string;
  readonly parts: readonly (TextPart | ImagePart | FilePart)[];
  readonly isError: boolean;
  /** The call was of a freeform tool. */
  readonly isFreeform?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A tool run by the client. */
export interface Tool {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly namespaceDescription?: string | undefined;
  readonly description?: string | undefined;
  /** As written, including key order; undefined if absent. */
  readonly schema: RawJson | undefined;
  readonly strict?: boolean | undefined;
  readonly freeform?: { readonly grammar?: { readonly syntax: string; readonly definition: string } | undefined };
  /** Defined by the client's protocol, where calls of it have their own type. */
  readonly builtIn?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
  /** Path for warnings: `tools[2]`. */
  readonly path: string;
}

/** `web_search` in every protocol that has it; others by their type. */
export interface HostedTool {
  readonly type: string;
  /** Max uses; undefined: the vendor's default. */
  readonly maxUses?: number | undefined;
  /** Path for warnings: `tools[2]`. */
  readonly path: string;
}

export type ToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required'; readonly allowed?: readonly string[] | undefined }
  | { readonly mode: 'one'; readonly name: string; readonly namespace?: string | undefined };

export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly seed?: number | undefined;
  readonly logitBias?: RawJson | undefined;
  /** Requested alternatives per token; 0: the token itself. Undefined: no logprobs. */
  readonly topLogprobs?: number | undefined;
}

export interface ReasoningRequest {
  readonly effort?: Effort | undefined;
  /** Max reasoning tokens. */
  readonly budget?: number | undefined;
  /** Set in protocols with a switch. */
  readonly thinking?: 'on' | 'off' | undefined;
  /** `sealed`: only what must be sent back; `text`: also readable reasoning. */
  readonly show: 'none' | 'sealed' | 'text';
}

export type OutputFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema';
      readonly schema: RawJson;
      readonly name?: string | undefined;
      readonly strict?: boolean | undefined;
      readonly description?: string | undefined;
    };
