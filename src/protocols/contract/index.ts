// The vocabulary of a call: head, signals and frames, the adapter contracts, and what protocols share: JSON, SSE, text
// places, translation. Plain values only: no Nest, no I/O, no clock, no money.
export { classifyInnerError, classifyUpstream, readResponseFields } from './classify-upstream.js';
export type {
  ListedModel,
  ResponseReferences,
  PromptPlaces,
  TokenCountEndpoint,
  ProtocolAdapter,
  RenderedError,
  RenderedResponse,
  ResolvedResponses,
  ResponsePlaces,
  ResponseStorage,
  StoredResponseText,
  StreamTail,
  TextPlaces,
} from './protocol-adapter.js';
export {
  type Call,
  type CallAffinity,
  type CallHead,
  type Effort,
  EFFORTS,
  type ImageGenerationUsage,
  type IrregularTotals,
  NO_TOKENS,
  type OutsideContent,
  type TokenUsage,
  type UsagePass,
  DEFAULT_SERVICE_TIERS,
} from './call.js';
export type { BodySize, CallBody, PromptSample } from './call-body.js';
export { likelyTokensIn, textPieces } from './token-estimate.js';
export { DEFAULT_IMAGE_TOKENS } from './media-tokens.js';
export type { CallTrace, EndedAttempt, EndedCall, EndedUsage, TracedUpstream } from './call-trace.js';
export {
  cacheAffinityIn,
  type HeadReader,
  headReader,
  outsideIn,
  PROMPT_CACHE_KEY,
  refuseBackground,
  serviceTierIn,
  UNKNOWN_CONTENT,
} from './head-reader.js';
export {
  DEFAULT_STATUSES,
  errorHeaders,
  messageWithId,
  openAiErrorBody,
  renderOpenAiError,
  renderOpenAiLimits,
} from './openai-errors.js';
export {
  dataKind,
  eventTypeReader,
  KEEP_ALIVE_COMMENT,
  outputOf,
  parseData,
  renderSse,
  SseEvent,
  sseText,
} from './sse-event.js';
export { Flow, Interruption } from './flow.js';
export { WAIT_REASONS, type WaitReason, type WaitRecord, type WaitRecords, Waits } from './waits.js';
export { JsonReader, readJsonFields, type JsonFields } from './json-fields.js';
export type { JsonElement } from './json-members.js';
export { jsonInterests } from './json-interests.js';
export { splice, SplicedBody, type JsonEdit } from './json-splice.js';
export {
  interestsOf,
  MemberReader,
  type MemberTable,
  plainMembers,
  PLAIN,
  refusedMember,
  ROUTER_MEMBERS,
  scopedIn,
  scopedMember,
  TOOLS,
  wordSet,
} from './member-table.js';
export { MemberFinder } from './member-finder.js';
export {
  createdIn,
  createdState,
  HIDDEN,
  isKeepAlive,
  latin1,
  NO_BYTES,
  PASSED,
  passUnlessError,
  stateSignals,
  truncatedStream,
  unreadableEvent,
  usageSignals,
} from './meter-readings.js';
export { pageOf, renderListedModel, renderModelPage } from './model-page.js';
export { openAiFormat, openAiSchema } from './openai-format.js';
export { headerOf, type ProtocolId, type RequestLine } from './request-line.js';
export type {
  CreatedState,
  DemandedTool,
  NamedModel,
  RequestDemands,
  ScopedId,
  ScopedKind,
} from './request-demands.js';
export { commonEdits, jsonHeaders, jsonProbe, upstreamHeaders } from './rewrite.js';
export { type CallSignal, type Frame, isFinalReport } from './signals.js';
export { idOf, type ModelListing, modelListing } from './model-listing.js';
export { SseSplitter } from './sse-splitter.js';
export {
  addUsage,
  cacheWrites,
  countIn,
  hasAny,
  irregularIn,
  isCountInString,
  mediaIn,
  mediaOut,
  modelIn,
  objectIn,
  placeIn,
  servedByIn,
  tierIn,
  withParts,
  withPasses,
} from './token-counts.js';
export type {
  MeterReading,
  StreamMeter,
  UpstreamAdapter,
  UpstreamHeaders,
  UpstreamTarget,
  VerbatimLane,
} from './upstream-adapter.js';
export { UpstreamRefusal, type UpstreamRequest } from './upstream-request.js';
export * from './translation/index.js';
