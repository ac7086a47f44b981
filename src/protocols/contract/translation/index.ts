// The translated lane: normalized content, response events, and tools for adapters. Independent of protocols.
export type { BuildContext, ParseContext, RenderContext, StreamDecoder, StreamRenderer } from './adapter-contexts.js';
export { eventsOf, ResultCollector } from './call-result.js';
export type * from './content.js';
export {
  ConversationBuilder,
  effortOfBudget,
  nearestEffort,
  pairResults,
  reminder,
  requestedEffort,
  sourceOf,
  stopSequences,
  textOfFile,
  urlOf,
  withErrorText,
} from './conversation.js';
export { type CallEvent, type CallResult, EventGrammar, type PartStart, type StopReason } from './events.js';
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
} from './tool-schema.js';
export {
  allowedTools,
  conforming,
  itemId,
  type KnownTool,
  type NameRule,
  newResponseId,
  plainUser,
  supportedHostedTools,
  ToolNames,
} from './tool-names.js';
export { isTreeObject, type JsonTree, parseJsonTree, RawJson, type TreeObject, writeJson } from './json-tree.js';
export {
  dropServiceTier,
  WARNING_MEANINGS,
  type WarningCode,
  TranslationWarnings,
  malformed,
  unsupported,
} from './warnings.js';
export { PartSequencer } from './part-sequencer.js';
export { TreeReader } from './tree-reader.js';
