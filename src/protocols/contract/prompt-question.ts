import type { JsonObject } from '../../platform/shared/index.js';
import type { Call } from './call.js';
import type { ProtocolId } from './protocol-id.js';
import type { HeadReader } from './head-reader.js';
import type { RequestLine } from './request-line.js';
import type { UpstreamRequest } from './upstream-request.js';

/** How one dialect asks how many tokens a prompt has, which is no call: nothing is generated. Pure, as adapters are. */
export interface PromptQuestion {
  readonly protocol: ProtocolId;
  /** Where clients post it: `/v1/messages/count_tokens`. */
  readonly path: string;
  /** Reads a body that may lack what only an answer needs. */
  headReader(request: RequestLine): HeadReader;
  /** The client's bytes for an upstream of the dialect, with its own name of the model spliced in. */
  requestFor(call: Call, upstreamModel: string): UpstreamRequest;
  /** Whether an upstream's answer says how many. */
  isAnswer(body: JsonObject): boolean;
  render(tokens: number): JsonObject;
}
