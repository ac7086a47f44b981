// What the translated lane speaks between dialects: the content of a call, the events of an answer, and the tools that
// adapters read and write them with. Knows no dialect.
export type { BuildContext, ParseContext, RenderContext, StreamDecoder, StreamRenderer } from './adapter-contexts.js';
export { eventsOf, ResultCollector } from './call-result.js';
export type * from './content.js';
export { ConversationBuilder, pairResults, withErrorText } from './conversation.js';
export { effortOfBudget, nearestEffort, requestedEffort } from './efforts.js';
export { EventGrammar } from './event-grammar.js';
export type { CallEvent, CallResult, PartStart, StopReason } from './events.js';
export { describeFreeform, FREEFORM_SCHEMA, unwrapFreeform, wrapFreeform } from './freeform.js';
export { describeFormat } from './described-format.js';
export { newResponseId, conforming, itemId, type NameRule, plainUser } from './ids.js';
export { isTreeObject, type JsonTree, parseJsonTree, RawJson, type TreeObject, writeJson } from './json-tree.js';
export {
  leaveTierOut,
  WARNING_MEANINGS,
  type WarningCode,
  TranslationWarnings,
  malformed,
  notTranslatable,
} from './warnings.js';
export { allowedTools, runTools } from './offered-tools.js';
export { isObjectText } from './object-text.js';
export { PartSequencer } from './part-sequencer.js';
export { reminder } from './reminder.js';
export { sourceOf, textOfFile, urlOf } from './sources.js';
export { stopSequences } from './stop-sequences.js';
export { type KnownTool, ToolNames } from './tool-names.js';
export { TreeReader } from './tree-reader.js';
export { describedWith, objectSchema, withoutRootCombinators } from './tool-schema.js';
