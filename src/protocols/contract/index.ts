// The vocabulary of calls: heads, signals and frames, the adapter contracts, and what protocols share: JSON, SSE, text
// places, translation. Plain values only: no Nest, no I/O, no clock, no money.
export {
  classifyInnerError,
  classifyUpstream,
  invalidResponse,
  parseResponse,
  readResponseFields,
} from './classify-upstream.js';
export {
  classifyGoogleError,
  classifyGoogleInnerError,
  GOOGLE_FUNCTION_NAMES,
  GOOGLE_TOO_LONG,
  mediaTypeOf,
  startOfToolLoop,
  UNSIGNED_THOUGHT,
} from './google.js';
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
  ParseContext,
  RenderContext,
  StreamRenderer,
  StreamTail,
  TextPlaces,
} from './protocol-adapter.js';
export {
  addUsage,
  cacheWrites,
  type Call,
  type CallAffinity,
  type CallHead,
  type CallSignal,
  type CallTrace,
  countIn,
  DEFAULT_SERVICE_TIERS,
  type Effort,
  EFFORTS,
  type EndedAttempt,
  type EndedCall,
  type EndedUsage,
  type Frame,
  hasAny,
  headerOf,
  type ImageGenerationUsage,
  irregularIn,
  type IrregularTotals,
  isCountInString,
  isFinalReport,
  modelIn,
  NO_TOKENS,
  type OutsideContent,
  placeIn,
  type ProtocolId,
  type RequestLine,
  servedByIn,
  tierIn,
  type TokenUsage,
  type Transport,
  type TracedUpstream,
  type UsagePass,
  withParts,
  withPasses,
} from './call.js';
export { matchesCallPath, modelInPath, pathForModel, routeOf } from './call-paths.js';
export {
  type BodySize,
  type CallBody,
  type JsonEdit,
  type PromptSample,
  removalEdits,
  sealEdits,
  splice,
  SplicedBody,
} from './call-body.js';
export { likelyTokensIn, textPieces } from './token-estimate.js';
export { DEFAULT_IMAGE_TOKENS } from './media-tokens.js';
export {
  cacheAffinityIn,
  effortIn,
  effortsIn,
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
  openAiFormat,
  openAiSchema,
  openAiUsage,
  renderOpenAiError,
  renderOpenAiLimits,
} from './openai.js';
export {
  dataKind,
  eventTypeReader,
  KEEP_ALIVE_COMMENT,
  outputOf,
  parseData,
  renderSse,
  SseEvent,
  SseSplitter,
  sseText,
} from './sse.js';
export { Flow, Interruption, WAIT_REASONS, type WaitReason, type WaitRecord, type WaitRecords, Waits } from './flow.js';
export { JsonReader, readJsonFields, type JsonFields } from './json-fields.js';
export { type JsonElement, jsonInterests, MemberFinder } from './json-members.js';
export { objectIn, objectsIn, stringOf } from './json-text.js';
export {
  interestsOf,
  MemberReader,
  type MemberRule,
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
  readData,
  unreadableEvent,
  usageSignals,
} from './meter-readings.js';
export { renderListedModel, renderModelPage } from './model-page.js';
export type {
  CreatedState,
  DemandedTool,
  NamedModel,
  RequestDemands,
  ScopedId,
  ScopedKind,
} from './request-demands.js';
export { idOf, type ModelListing, modelListing, type UpstreamModel } from './model-listing.js';
export {
  commonEdits,
  jsonHeaders,
  jsonProbe,
  upstreamHeaders,
  UpstreamRefusal,
  type UpstreamRequest,
  type UpstreamTarget,
} from './upstream-request.js';
export type {
  Continuation,
  SocketAction,
  SocketArrival,
  SocketMessageReader,
  SocketProtocol,
  SocketSession,
  SocketTurn,
} from './socket-protocol.js';
export type {
  MeterReading,
  BuildContext,
  SocketReading,
  StreamDecoder,
  StreamMeter,
  UpstreamAdapter,
  UpstreamHeaders,
  UpstreamSocketProtocol,
  VerbatimLane,
} from './upstream-adapter.js';
export {
  type CallEvent,
  type CallResult,
  EventGrammar,
  eventsOf,
  type PartStart,
  ResultCollector,
  resultOf,
  type StopReason,
} from './translation/events.js';
export type * from './translation/content.js';
export {
  compacted,
  CompactedDecoder,
  CompactedRenderer,
  CompactingDecoder,
  compactionIn,
  compactsFirst,
  type FinishedCompaction,
  onlyCompacts,
  passUsage,
  sealedSummary,
  summarizing,
  summaryIn,
  summaryText,
  withCompaction,
  withCompactionUsage,
} from './translation/compaction.js';
export {
  ConversationBuilder,
  effortOfBudget,
  nearestEffort,
  pairResults,
  asReminder,
  NEUTRAL_SAMPLING,
  reminder,
  requestedEffort,
  sourceOf,
  stopSequences,
  textOfFile,
  urlOf,
  withErrorText,
} from './translation/conversation.js';
export {
  describedWith,
  describeFormat,
  describeFreeform,
  FREEFORM_SCHEMA,
  isObjectText,
  objectSchema,
  unwrapFreeform,
  withoutRootCombinators,
  wrapFreeform,
} from './translation/tool-schema.js';
export {
  allowedTools,
  conforming,
  joinedName,
  itemId,
  type KnownTool,
  type NameRule,
  newResponseId,
  plainUser,
  supportedHostedTools,
  ToolNames,
} from './translation/tool-names.js';
export {
  isTreeObject,
  type JsonTree,
  malformed,
  parseJsonTree,
  RawJson,
  type TreeObject,
  TreeReader,
  writeJson,
} from './translation/json-tree.js';
export {
  dropServiceTier,
  lowestOutputLimit,
  WARNING_MEANINGS,
  type WarningCode,
  TranslationWarnings,
  unsupported,
} from './translation/warnings.js';
export { PartSequencer } from './translation/part-sequencer.js';
