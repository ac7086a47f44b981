import { isJsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CompactionRequest,
  ConversationBuilder,
  malformed,
  type OutputFormat,
  type ParseContext,
  type RawJson,
  type ReasoningRequest,
  type Sampling,
  stopSequences,
  type TextPart,
  type TreeObject,
  TreeReader,
  unsupported,
} from '../contract/index.js';
import { ThreadNotFound } from './errors.js';
import { knowsSampling, VERSION_HEADERS, versionHeaderOf, WITHOUT_SAMPLING } from './flags.js';
import { readContent, readInstructions, readTexts, summaryOf } from './request-blocks.js';
import { readTools } from './request-tools.js';

/** Schemas and arguments are kept as text. */
export const RAW_MEMBERS: ReadonlySet<string> = new Set(['input_schema', 'input', 'schema']);

const SAMPLING = ['temperature', 'top_p', 'top_k'];

/** Prefix of Claude Code's billing note before the instructions, which differs per call or session. */
const BILLING_NOTE = 'x-anthropic-billing-header:';

/** @throws AppError invalid_request naming the member */
export function parseMessagesRequest(request: TreeObject, context: ParseContext): CallContent {
  const fields = new TreeReader(request);
  rejectVendorMembers(fields);
  rejectSampling(fields, context);
  warnOfSpeed(fields, context);
  const { lead, turns } = readConversation(fields, context);
  return {
    lead,
    turns,
    ...readTools(fields),
    outputLimit: context.call.head.outputLimit,
    stop: stopSequences(fields.strings('stop_sequences'), 'stop_sequences'),
    sampling: readSampling(fields),
    reasoning: readReasoning(fields, context),
    format: readFormat(fields),
    verbosity: undefined,
    endUser: fields.child('metadata')?.string('user_id'),
    cacheKey: undefined,
    // The default tier in other protocols.
    serviceTier: fields.value('service_tier') === 'standard_only' ? 'default' : undefined,
    compaction: readCompaction(fields),
  };
}

function readCompaction(fields: TreeReader): CompactionRequest | undefined {
  const compaction = fields.child('compaction');
  if (compaction !== undefined) {
    const type = compaction.word('type');
    if (type !== 'summarize') throw unsupported(compaction.pathOf('type'), `"${type}" is not known`);
    return { mode: 'only', instructions: instructionsIn(compaction) };
  }
  const edits = fields.child('context_management')?.children('edits') ?? [];
  const edit = edits.find(({ tree: { type } }) => typeof type === 'string' && type.startsWith('compact_'));
  return (
    edit && {
      mode: 'ahead',
      threshold: edit.child('trigger')?.integer('value', { min: 1 }),
      pauses: edit.boolean('pause_after_compaction'),
      instructions: instructionsIn(edit),
    }
  );
}

/** Blank ones count as absent. */
function instructionsIn(fields: TreeReader): string | undefined {
  const instructions = fields.string('instructions');
  return instructions === undefined || instructions.trim() === '' ? undefined : instructions;
}

function readConversation(fields: TreeReader, context: ParseContext): ConversationBuilder {
  const conversation = new ConversationBuilder();
  // The billing note is not for models, and would prevent caching.
  const isInstruction = ({ text }: TextPart): boolean => !text.startsWith(BILLING_NOTE);
  instruct(conversation, readTexts(fields, 'system').filter(isInstruction));
  const messages = fields.children('messages');
  const compactedAt = messages.findLastIndex((message) => summaryOf(message) !== undefined);
  messages.forEach((message, index) => {
    const role = message.word('role');
    if (role === 'system') return instruct(conversation, readInstructions(message));
    if (role !== 'user' && role !== 'assistant')
      throw malformed(message.pathOf('role'), 'must be user, assistant or system');
    if (index < compactedAt) return;
    const summary = index === compactedAt ? summaryOf(message) : undefined;
    if (summary !== undefined) conversation.addTurn('user', [{ kind: 'text', text: summary.text }]);
    conversation.addTurn(role, readContent(message, context, summary && summary.at + 1));
  });
  if (!conversation.turns.some(({ role }) => role === 'user')) {
    throw malformed('messages', 'must contain user content');
  }
  return conversation;
}

function instruct(conversation: ConversationBuilder, texts: readonly TextPart[]): void {
  for (const { text, cache } of texts) conversation.addInstruction(text, cache);
}

/** @throws AppError for members that only the vendor supports */
function rejectVendorMembers(fields: TreeReader): void {
  const thread = fields.child('thread');
  if (thread !== undefined && thread.word('type') !== 'create') throw new ThreadNotFound(thread.tree);
  if (fields.value('max_tokens') === 0) throw unsupported('max_tokens', 'must be 1 or more for this model');
  if (fields.has('inference_geo')) throw unsupported('inference_geo', 'is not supported by this model');
  if (fields.children('mcp_servers').length > 0) throw unsupported('mcp_servers', 'cannot be used with this model');
  const container = fields.value('container');
  if (typeof container === 'object' && container !== null && 'skills' in container) {
    throw unsupported('container.skills', 'cannot be used with this model');
  }
}

/** @throws AppError naming the member, for versions without it */
function rejectSampling(fields: TreeReader, { call }: ParseContext): void {
  if (knowsSampling(versionHeaderOf(call.request))) return;
  const name = SAMPLING.find((member) => fields.has(member));
  if (name !== undefined)
    throw unsupported(name, `is not permitted with an ${VERSION_HEADERS[0]} of ${WITHOUT_SAMPLING} or later`);
}

function warnOfSpeed(fields: TreeReader, { warnings }: ParseContext): void {
  const speed = fields.string('speed');
  if (speed !== undefined && speed !== 'standard') warnings.warn('unsupported_parameter', 'speed');
}

const readSampling = (fields: TreeReader): Sampling => ({
  temperature: fields.number('temperature'),
  topP: fields.number('top_p'),
  topK: fields.number('top_k'),
});

function readReasoning(fields: TreeReader, { call }: ParseContext): ReasoningRequest {
  const thinking = fields.child('thinking');
  const type = thinking?.word('type');
  if (type === 'disabled') return { effort: 'none', thinking: 'off', show: 'none' };
  const { effort } = call.head;
  if (type === undefined) return { effort, show: 'none' };
  const budget = type === 'enabled' ? thinking?.number('budget_tokens') : undefined;
  const show = thinking?.value('display') === 'omitted' ? 'sealed' : 'text';
  return { effort, budget, thinking: 'on', show };
}

/** `output_format` is the older name. */
function readFormat(fields: TreeReader): OutputFormat {
  const format = fields.child('output_config')?.child('format') ?? fields.child('output_format');
  if (format === undefined) return { kind: 'text' };
  const type = format.word('type');
  if (type !== 'json_schema') throw unsupported(format.pathOf('type'), `"${type}" is not known`);
  const schema = format.raw('schema');
  if (schema === undefined) throw malformed(format.pathOf('schema'), 'must be an object');
  return { kind: 'schema', schema, strict: isStrict(schema) };
}

/** As complete as strict mode requires: nothing optional, no additional properties. */
function isStrict({ value }: RawJson): boolean {
  return isClosed(value, true);
}

function isClosed(schema: unknown, isSchema: boolean): boolean {
  if (Array.isArray(schema)) return schema.every((entry) => isClosed(entry, true));
  if (!isJsonObject(schema)) return true;
  const { properties, required } = schema;
  if (isSchema && (schema['type'] === 'object' || isJsonObject(properties))) {
    const names = Object.keys(isJsonObject(properties) ? properties : {});
    const all = new Set(Array.isArray(required) ? (required as readonly unknown[]) : []);
    if (schema['additionalProperties'] !== false || !names.every((name) => all.has(name))) return false;
  }
  return Object.entries(schema).every(([name, value]) => isClosed(value, !(isSchema && NAMED.has(name))));
}

/** Members whose keys are arbitrary names. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
