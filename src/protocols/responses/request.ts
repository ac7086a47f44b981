import {
  type CallContent,
  type CompactionRequest,
  ConversationBuilder,
  type HostedTool,
  malformed,
  openAiFormat,
  openAiSchema,
  type OutputFormat,
  type ParseContext,
  type ReasoningRequest,
  type Sampling,
  type Tool,
  type ToolChoice,
  type TreeObject,
  TreeReader,
  unsupported,
  writeJson,
} from '../contract/index.js';
import { readBuiltIn } from './built-in-tools.js';
import { COMPACTION_TRIGGER, compactsOnly, OUTPUT_LIMIT } from './head.js';
import { afterCompaction, itemsOf, readInput } from './request-input.js';

export const RAW_MEMBERS: ReadonlySet<string> = new Set(['parameters', 'schema']);

/** Stored at the vendor, or specific to it. */
const VENDORS = ['previous_response_id', 'conversation', 'prompt', 'access_programs'];

/** @throws AppError invalid_request naming the member */
export function parseRequest(body: TreeObject, context: ParseContext): CallContent {
  const request = new TreeReader(body);
  rejectVendorMembers(request);
  if (request.string('truncation') === 'auto') context.warnings.warn('unsupported_parameter', 'truncation');
  const conversation = readConversation(request, context);
  const { tools, hostedTools } = readTools(request);
  const maxUses = request.integer('max_tool_calls', { min: 1 });
  return {
    ...conversation,
    tools,
    hostedTools: maxUses === undefined ? hostedTools : hostedTools.map((tool) => ({ ...tool, maxUses })),
    toolChoice: readToolChoice(request, tools),
    parallelTools: request.boolean('parallel_tool_calls'),
    outputLimit: request.integer(OUTPUT_LIMIT, { min: 1 }),
    stop: [],
    sampling: readSampling(request),
    reasoning: readReasoning(request),
    format: readFormat(newest(request, 'text', 'format')?.child('format')),
    verbosity: request.child('text')?.string('verbosity'),
    endUser: request.string('safety_identifier') ?? request.string('user'),
    cacheKey: request.string('prompt_cache_key'),
    serviceTier: request.string('service_tier'),
    compaction: readCompaction(request, context),
  };
}

/** @throws AppError when a trigger is not the last item */
function readCompaction(request: TreeReader, context: ParseContext): CompactionRequest | undefined {
  if (compactsOnly(context.call.request)) return { mode: 'only', kept: userMessages(request, context) };
  const [trigger] = itemsOf(request, COMPACTION_TRIGGER);
  if (trigger !== undefined && trigger.path !== request.children('input').at(-1)?.path)
    throw malformed(trigger.path, 'must be the last item of the input');
  if (trigger !== undefined) return { mode: 'only' };
  for (const entry of request.children('context_management')) {
    if (entry.word('type') === 'compaction')
      return { mode: 'ahead', threshold: entry.integer('compact_threshold', { min: 1 }) };
    context.warnings.warn('unsupported_parameter', entry.path);
  }
  return undefined;
}

/** They stay beside the summary. */
function userMessages(request: TreeReader, context: ParseContext): string {
  const input = request.value('input');
  if (typeof input === 'string') return writeJson([{ role: 'user', content: input }]);
  const items = afterCompaction(request, context).filter((item) => item.value('role') === 'user');
  return writeJson(items.map(({ tree }) => tree));
}

function rejectVendorMembers(request: TreeReader): void {
  for (const name of VENDORS) {
    if (request.has(name)) throw unsupported(name, 'is not supported by the upstream of this model; remove it');
  }
  const policy = request.child('moderation')?.child('policy');
  for (const side of [policy?.child('input'), policy?.child('output')]) {
    if (side?.string('mode') === 'block') throw unsupported(side.path, 'is not supported by this upstream');
  }
}

function readConversation(request: TreeReader, context: ParseContext): Pick<CallContent, 'lead' | 'turns'> {
  const conversation = new ConversationBuilder();
  conversation.addInstruction(request.string('instructions') ?? '');
  readInput(request, { conversation, context });
  const { lead, turns } = conversation;
  if (!turns.some(({ role }) => role === 'user')) throw malformed('input', 'must contain a user message');
  return { lead, turns };
}

function readSampling(request: TreeReader): Sampling {
  return {
    temperature: request.number('temperature'),
    topP: request.number('top_p'),
    presencePenalty: request.number('presence_penalty'),
    frequencyPenalty: request.number('frequency_penalty'),
    topLogprobs: includes(request, 'message.output_text.logprobs') ? (request.integer('top_logprobs') ?? 0) : undefined,
  };
}

function readReasoning(request: TreeReader): ReasoningRequest {
  const reasoning = request.child('reasoning');
  const isReadable = reasoning?.has('summary') === true || reasoning?.has('generate_summary') === true;
  return {
    effort: newest(request, 'reasoning', 'effort')?.string('effort'),
    // Sent back by the client, or stored with the response.
    show: isReadable ? 'text' : 'sealed',
  };
}

const includes = (request: TreeReader, what: string): boolean => request.strings('include').includes(what);

/** The latest settings of a group: input items may update the request. */
function newest(request: TreeReader, group: string, name: string): TreeReader | undefined {
  const groups = [request, ...itemsOf(request, 'configuration_update')].map((holder) => holder.child(group));
  return groups.findLast((settings) => settings?.has(name));
}

const readFormat = (format: TreeReader | undefined): OutputFormat => openAiFormat(format, readSchema);

function readSchema(format: TreeReader): OutputFormat {
  const schema = openAiSchema(format);
  if (schema === undefined) throw format.malformed('schema', 'is required');
  return schema;
}

/** Hosted tools and those only the vendor's models know. Web search has many names. */
const HOSTED =
  /^(?:web_search\w*|file_search|code_interpreter|image_generation|mcp|shell|tool_search|programmatic_tool_calling)$/;
const WEB_SEARCH = 'web_search';

/** From anywhere in the request; those that the client's search found repeatedly count once. */
function readTools(request: TreeReader): Pick<CallContent, 'tools' | 'hostedTools'> {
  const tools: Tool[] = [];
  const hostedTools: HostedTool[] = [];
  const offered = [request, ...itemsOf(request, 'additional_tools')].flatMap((holder) => holder.children('tools'));
  for (const definition of offered) {
    const type = definition.word('type');
    const tool = readBuiltIn(definition);
    if (tool === undefined && HOSTED.test(type)) hostedTools.push({ type: hostedType(type), path: definition.path });
    else for (const one of tool === undefined ? readClientTools(definition) : [tool]) tools.push(one);
  }
  rejectConflicts(tools);
  const known = new Set(tools.map(keyOf));
  const found = itemsOf(request, 'tool_search_output').filter((item) => item.value('execution') !== 'server');
  for (const tool of found.flatMap((item) => item.children('tools')).flatMap(readClientTools)) {
    if (!known.has(keyOf(tool))) tools.push(tool);
    known.add(keyOf(tool));
  }
  return { tools, hostedTools };
}

const keyOf = ({ name, namespace = '' }: Tool): string => `${namespace}\0${name}`;

/** @throws AppError when another tool has the name of a built-in tool */
function rejectConflicts(tools: readonly Tool[]): void {
  const builtIn = new Set(tools.filter((tool) => tool.builtIn).map(keyOf));
  const other = tools.find((tool) => tool.builtIn !== true && builtIn.has(keyOf(tool)));
  if (other !== undefined)
    throw malformed(`${other.path}.name`, 'must not be the name of a built-in tool in this request');
}

const readClientTools = (definition: TreeReader): readonly Tool[] =>
  definition.value('type') === 'namespace' ? readNamespace(definition) : [readTool(definition)];

const hostedType = (type: string): string => (type.startsWith(WEB_SEARCH) ? WEB_SEARCH : type);

function readNamespace(definition: TreeReader): readonly Tool[] {
  const namespace = definition.word('name');
  const namespaceDescription = definition.string('description');
  const named = { namespace, ...(namespaceDescription !== undefined && { namespaceDescription }) };
  return definition.children('tools').map((tool) => ({ ...readTool(tool), ...named }));
}

function readTool(definition: TreeReader): Tool {
  const type = definition.word('type');
  switch (type) {
    case 'function': {
      const strict = definition.boolean('strict');
      return {
        ...namedTool(definition),
        schema: definition.raw('parameters'),
        ...(strict !== undefined && { strict }),
      };
    }
    case 'custom':
      return { ...namedTool(definition), schema: undefined, freeform: freeformOf(definition.child('format')) };
    default:
      throw unsupported(definition.pathOf('type'), `"${type}" is not supported by the upstream`);
  }
}

function namedTool(definition: TreeReader): Pick<Tool, 'name' | 'description' | 'path'> {
  const description = definition.string('description');
  return { name: definition.word('name'), ...(description !== undefined && { description }), path: definition.path };
}

function freeformOf(format: TreeReader | undefined): NonNullable<Tool['freeform']> {
  if (format?.string('type') !== 'grammar') return {};
  return { grammar: { syntax: format.word('syntax'), definition: format.word('definition') } };
}

/** @throws AppError when it names an unknown tool, or one that only the vendor runs */
function readToolChoice(request: TreeReader, tools: readonly Tool[]): ToolChoice {
  if (typeof request.value('tool_choice') === 'string') return { mode: modeIn(request, 'tool_choice') };
  const choice = request.child('tool_choice');
  if (choice === undefined) return { mode: 'auto' };
  const type = choice.word('type');
  switch (type) {
    case 'function':
    case 'custom':
      return readNamedTool(choice, 'name', tools);
    case 'shell':
    case 'apply_patch':
      return readNamedTool(choice, 'type', tools);
    case 'allowed_tools':
      return { mode: modeIn(choice, 'mode'), allowed: allowedNames(choice, tools) };
    default:
      throw unsupported(choice.path, `cannot force "${type}" with this upstream`);
  }
}

function modeIn(reader: TreeReader, name: string): 'auto' | 'none' | 'required' {
  const mode = reader.word(name);
  switch (mode) {
    case 'auto':
    case 'none':
    case 'required':
      return mode;
    default:
      throw reader.malformed(name, 'must be auto, none or required');
  }
}

/** @param member that names the tool: the type of built-in ones */
function readNamedTool(choice: TreeReader, member: 'name' | 'type', tools: readonly Tool[]): ToolChoice {
  const name = choice.word(member);
  const namespace = choice.string('namespace');
  const known = tools.find((tool) => tool.name === name && (namespace === undefined || tool.namespace === namespace));
  if (known === undefined) throw choice.malformed(member, 'must be the name of a tool in this request');
  return { mode: 'one', name, ...(known.namespace !== undefined && { namespace: known.namespace }) };
}

/** Built-in tools have their type as name; hosted ones have none here. */
const allowedNames = (choice: TreeReader, tools: readonly Tool[]): readonly string[] =>
  choice.children('tools').flatMap((allowed) => {
    const builtIn = tools.find((tool) => tool.builtIn === true && tool.name === allowed.value('type'));
    return allowed.string('name') ?? builtIn?.name ?? [];
  });
