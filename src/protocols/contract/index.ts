// The vocabulary of a call: head, signals and frames, the adapter contracts, and what protocols share: JSON, SSE, text
// places, translation. Plain values only: no Nest, no I/O, no clock, no money.
export { readResponseFields } from './response-fields.js';
export type {
  ResponseStorage,
  RenderedResponse,
  StoredResponseText,
  ResolvedResponses,
  NamedResponses,
} from './response-storage.js';
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
export { likelyTokensIn } from './token-estimate.js';
export { DEFAULT_IMAGE_TOKENS } from './media-tokens.js';
export type { CallTrace, EndedAttempt, EndedCall, EndedUsage, TracedUpstream } from './call-trace.js';
export { classifyInnerError, classifyUpstream } from './classify-upstream.js';
export {
  cacheAffinityIn,
  outsideIn,
  PROMPT_CACHE_KEY,
  refuseBackground,
  serviceTierIn,
  UNKNOWN_CONTENT,
} from './common-fields.js';
export { errorHeaders, messageWithId } from './error-headers.js';
export { dataKind, eventTypeReader, outputOf, parseData } from './event-text.js';
export { Flow } from './flow.js';
export { WAIT_REASONS, type WaitReason, type WaitRecord, type WaitRecords, Waits } from './waits.js';
export { type HeadReader, headReader } from './head-reader.js';
export { Interruption } from './interruption.js';
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
  HIDDEN,
  isKeepAlive,
  latin1,
  NO_BYTES,
  PASSED,
  passUnlessError,
  truncated,
  unreadableEvent,
  usageSignals,
} from './meter-readings.js';
export { pageOf, renderListedModel, renderModelPage } from './model-page.js';
export { openAiErrorBody, renderOpenAiError } from './openai-errors.js';
export { openAiFormat, openAiSchema } from './openai-format.js';
export { renderOpenAiLimits } from './openai-limits.js';
export type { ListedModel, ProtocolAdapter, RenderedError, StreamTail } from './protocol-adapter.js';
export type { PromptQuestion } from './prompt-question.js';
export type { ProtocolId } from './protocol-id.js';
export { createdIn, createdState, stateSignals } from './created-state.js';
export type {
  CreatedState,
  DemandedTool,
  NamedModel,
  RequestDemands,
  ScopedId,
  ScopedKind,
} from './request-demands.js';
export { headerOf, type RequestLine } from './request-line.js';
export { jsonHeaders, commonEdits, upstreamHeaders } from './rewrite.js';
export { type CallSignal, type Frame, isFinalReport } from './signals.js';
export { idOf, type ModelListing, modelListing } from './model-listing.js';
export { smallestRequest } from './smallest-request.js';
export { KEEP_ALIVE_COMMENT, renderSse, SseEvent, sseText } from './sse-event.js';
export { SseSplitter } from './sse-splitter.js';
export { textPieces } from './text-pieces.js';
export type { ResponsePlaces, PromptPlaces, TextPlaces } from './text-places.js';
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
export type { UpstreamRequest } from './upstream-request.js';
export * from './translation/index.js';
export { UpstreamRefusal } from './upstream-refusal.js';
export { DEFAULT_STATUSES } from './default-statuses.js';
