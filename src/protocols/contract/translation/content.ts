import type { Effort } from '../call.js';
import type { RawJson } from './json-tree.js';

// What a client asks for, in no dialect. Everything is readonly and made once, by the dialect that read the request;
// a dialect that builds a request from it changes nothing. A member is here only when two dialects mean the same by it.

/** The content of one call. */
export interface CallContent {
  /** What stands before the conversation: system and developer texts, in order. */
  readonly lead: readonly TextPart[];
  /** No two neighbours are both the user's or both the assistant's. Tool results stand in user turns. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** Tools that the vendor of the client's dialect runs itself. */
  readonly hostedTools: readonly HostedTool[];
  readonly toolChoice: ToolChoice;
  /** Whether several tools may be called in one turn; undefined when the client does not say. */
  readonly parallelTools: boolean | undefined;
  /** The client's limit of output tokens, reasoning included. */
  readonly outputLimit: number | undefined;
  /** Texts that end the answer where the model writes them. */
  readonly stop: readonly string[];
  readonly sampling: Sampling;
  readonly reasoning: ReasoningRequest;
  readonly format: OutputFormat;
  /** `low`, `medium`, `high`, or whatever else the client wrote. */
  readonly verbosity: string | undefined;
  /** Whom the call is for, by the client's own name for them. */
  readonly endUser: string | undefined;
  /** What calls with the same beginning have in common. */
  readonly cacheKey: string | undefined;
  readonly serviceTier: string | undefined;
}

/** One turn of the conversation. `system` is an instruction in the middle of it. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly Part[];
}

export type Part =
  TextPart | ImagePart | FilePart | AudioPart | RefusalPart | ReasoningPart | ToolCallPart | ToolResultPart;

/** What an answer is made of. */
export type ResponsePart = TextPart | RefusalPart | ReasoningPart | ToolCallPart;

/** Up to here the prompt may be kept in the vendor's cache. */
export interface CacheMark {
  readonly ttl?: string | undefined;
}

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  readonly annotations?: readonly Annotation[] | undefined;
  readonly cache?: CacheMark | undefined;
}

/** Where a text comes from; positions are not kept, since dialects count them differently. */
export interface Annotation {
  readonly url: string;
  readonly title: string;
}

/** Where bytes come from: in the request, as base64; at an address; or with the vendor, by its id. */
export type Source =
  | { readonly from: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly from: 'url'; readonly url: string };

export interface ImagePart {
  readonly kind: 'image';
  readonly source: Source;
  readonly detail?: string | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A document. Plain text is text even in the dialect that has documents of it: `source` is that text then. */
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

export interface ReasoningPart {
  readonly kind: 'reasoning';
  /** What can be read of it; may be empty. */
  readonly text: string;
  /** What its vendor must get back as it was. */
  readonly opaque?: OpaqueReasoning | undefined;
}

/** Reasoning as its vendor signed or encrypted it. */
export interface OpaqueReasoning {
  /**
   * `signature` stands beside the very text, `redacted` and `encrypted` in its place; `text`: nobody signed it, and it
   * may be given back to whichever upstream of the family wants its thoughts back.
   */
  readonly kind: 'signature' | 'redacted' | 'encrypted' | 'text';
  /** Whose it is: it goes back to no other. As `UpstreamTarget.family` says. */
  readonly family: string;
  readonly data: string;
  /** The text that was signed, to the byte. */
  readonly text: string;
  /** The vendor's id of the item, where it has one. */
  readonly id?: string | undefined;
}

export interface ToolCallPart {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  /** JSON text, never empty, as the model wrote it; free text when `isFreeform`. */
  readonly arguments: string;
  readonly isFreeform?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

export interface ToolResultPart {
  readonly kind: 'tool-result';
  /** Of the call. */
  readonly id: string;
  readonly parts: readonly (TextPart | ImagePart | FilePart)[];
  readonly isError: boolean;
  /** The call was of a freeform tool. */
  readonly isFreeform?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A tool that the client runs. */
export interface Tool {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** What the client says of the namespace as a whole. */
  readonly namespaceDescription?: string | undefined;
  readonly description?: string | undefined;
  /** As the client wrote it, key order included; undefined when it gave none. */
  readonly schema: RawJson | undefined;
  readonly strict?: boolean | undefined;
  /** It takes any text instead of JSON. */
  readonly freeform?: { readonly grammar?: { readonly syntax: string; readonly definition: string } | undefined };
  readonly cache?: CacheMark | undefined;
  /** Where it stands in the request, for warnings: `tools[2]`. */
  readonly path: string;
}

/** `web_search` in every dialect that has it; others by the type that the client wrote. */
export interface HostedTool {
  readonly type: string;
  /** How often it may be run for this request; undefined: as often as its vendor lets it. */
  readonly maxUses?: number | undefined;
  /** Where it stands in the request, for warnings: `tools[2]`. */
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
  /** How many alternatives of each token are asked for; 0: the token itself. Undefined: none at all. */
  readonly topLogprobs?: number | undefined;
}

/** How a model is to think, and what the client wants to see of it. */
export interface ReasoningRequest {
  readonly effort?: Effort | undefined;
  /** At most so many tokens. */
  readonly budget?: number | undefined;
  /** `off` and `on` where the client says so in a dialect that has a switch. */
  readonly thinking?: 'on' | 'off' | undefined;
  /** `none`: nothing of it; `sealed`: only what has to come back; `text`: what can be read as well. */
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
