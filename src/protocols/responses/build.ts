import {
  allowedTools,
  type BuildContext,
  type CallContent,
  jsonHeaders,
  nearestEffort,
  objectSchema,
  type OutputFormat,
  pairResults,
  plainUser,
  requestedEffort,
  SplicedBody,
  supportedHostedTools,
  type Tool,
  ToolNames,
  type TranslationWarnings,
  type TreeObject,
  type Turn,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../contract/index.js';
import { responsesFlags, type ResponsesFlags } from './flags.js';
import { MIN_OUTPUT_TOKENS, OUTPUT_LIMIT } from './head.js';
import { type ItemContext, itemsOfTurn, NAME_RULE } from './build-items.js';

/** Nothing is stored upstream: reasoning is returned encrypted. */
export function buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content, warnings } = context;
  const flags = responsesFlags(target);
  const names = new ToolNames(content.tools, NAME_RULE);
  addWarnings(content, warnings);
  const body: TreeObject = {
    model: target.model,
    ...buildConversation(context, { family: target.family, flags, names }),
    stream: target.stream,
    store: false,
    ...buildReasoning(context, flags),
    [OUTPUT_LIMIT]: limitOf(context, target),
    ...buildSampling(context, flags),
    ...buildTools(context, flags, names),
    text: textOf(content),
    safety_identifier: content.endUser === undefined ? undefined : plainUser(content.endUser),
    prompt_cache_key: content.cacheKey,
    service_tier: content.serviceTier,
  };
  return {
    path: '/responses',
    query: '',
    headers: jsonHeaders(target.stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
  };
}

/** Stop sequences are enforced in the response. */
function addWarnings({ sampling }: CallContent, warnings: TranslationWarnings): void {
  const unsupportedValues = {
    top_k: sampling.topK,
    logit_bias: sampling.logitBias,
    logprobs: sampling.topLogprobs,
    presence_penalty: sampling.presencePenalty === 0 ? undefined : sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty === 0 ? undefined : sampling.frequencyPenalty,
  };
  for (const [path, value] of Object.entries(unsupportedValues))
    if (value !== undefined) warnings.warn('unsupported_parameter', path);
}

function buildConversation({ content, warnings }: BuildContext, context: ItemContext): TreeObject {
  const { leadInInput } = context.flags;
  const lead: readonly Turn[] = content.lead.map((part) => ({ role: 'system', parts: [part] }));
  const turns = pairResults(content.turns, warnings);
  if (turns.at(-1)?.role === 'assistant') warnings.warn('prefill', 'messages');
  return {
    instructions: leadInInput || lead.length === 0 ? undefined : content.lead.map(({ text }) => text).join('\n\n'),
    input: [...(leadInInput ? lead : []), ...turns].flatMap((turn) => [...itemsOfTurn(turn, context)]),
  };
}

/** The lowest of all limits; the vendor's minimum applies unless a lower one was set on purpose. */
function limitOf({ content, warnings }: BuildContext, target: UpstreamTarget): number | undefined {
  const { outputLimit: wanted = Infinity } = content;
  const limit = Math.min(wanted, target.outputLimit ?? Infinity);
  if (limit === Infinity) return undefined;
  const isKnown = wanted === Infinity || (wanted >= MIN_OUTPUT_TOKENS && wanted <= target.maxOutputTokens);
  if (!isKnown) warnings.warn('clamped', 'max_tokens');
  return Math.max(MIN_OUTPUT_TOKENS, Math.min(limit, target.maxOutputTokens));
}

function buildSampling({ content: { sampling }, warnings }: BuildContext, flags: ResponsesFlags): TreeObject {
  const { temperature, topP } = sampling;
  if (flags.takesSampling) return { temperature, top_p: topP };
  if ((temperature ?? 1) !== 1) warnings.warn('unsupported_parameter', 'temperature');
  if ((topP ?? 1) !== 1) warnings.warn('unsupported_parameter', 'top_p');
  return {};
}

function buildReasoning({ content: { reasoning }, warnings }: BuildContext, flags: ResponsesFlags): TreeObject {
  const requested = requestedEffort(reasoning);
  if (!flags.reasons) {
    if (requested !== undefined && requested !== 'none') warnings.warn('unsupported_parameter', 'reasoning_effort');
    return {};
  }
  const effort = requested === undefined ? undefined : nearestEffort(requested, flags.efforts);
  if (effort !== requested)
    warnings.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', 'reasoning_effort');
  const summary = reasoning.show === 'text' && flags.summarizes && effort !== 'none' ? 'auto' : undefined;
  return {
    include: ['reasoning.encrypted_content'],
    ...((effort ?? summary) !== undefined && { reasoning: { effort, summary } }),
  };
}

function textOf({ format, verbosity }: CallContent): TreeObject | undefined {
  if (format.kind === 'text' && verbosity === undefined) return undefined;
  return { format: formatOf(format), verbosity };
}

function formatOf(format: OutputFormat): TreeObject {
  switch (format.kind) {
    case 'text':
      return { type: 'text' };
    case 'json':
      return { type: 'json_object' };
    case 'schema': {
      const { name = 'output', description, schema, strict = false } = format;
      return { type: 'json_schema', name, description, schema, strict };
    }
    default:
      return format satisfies never;
  }
}

const WEB_SEARCH = 'web_search';

function buildTools({ content, warnings }: BuildContext, flags: ResponsesFlags, names: ToolNames): TreeObject {
  const hosted = supportedHostedTools(content, ({ type }) => type === WEB_SEARCH && flags.searchesWeb, warnings);
  const isFiltered = !flags.takesAllowedTools;
  const offered = isFiltered ? allowedTools(content) : content.tools;
  const tools = [...offeredTools(offered, names), ...hosted.map(({ type }) => ({ type }))];
  if (tools.length === 0) return {};
  return {
    tools,
    tool_choice: choiceOf(content, names, isFiltered),
    parallel_tool_calls: content.parallelTools,
    max_tool_calls: hosted[0]?.maxUses,
  };
}

/** Tools of a namespace are grouped at the position of the first. */
function offeredTools(tools: readonly Tool[], names: ToolNames): readonly TreeObject[] {
  return tools.flatMap((tool): readonly TreeObject[] => {
    const { namespace, namespaceDescription: description } = tool;
    if (namespace === undefined) return [toolOf(tool, names)];
    const members = tools.filter((other) => other.namespace === namespace);
    if (members[0] !== tool) return [];
    const definitions = members.map((member) => toolOf(member, names));
    return [{ type: 'namespace', name: namespace, description, tools: definitions }];
  });
}

function toolOf(tool: Tool, names: ToolNames): TreeObject {
  const named = { name: names.wireName(tool.name), description: tool.description };
  if (tool.freeform !== undefined) return { type: 'custom', ...named, format: grammarOf(tool.freeform) };
  // By default, strict mode would make every property required.
  return { type: 'function', ...named, parameters: objectSchema(tool.schema), strict: tool.strict ?? false };
}

const grammarOf = ({ grammar }: NonNullable<Tool['freeform']>): TreeObject =>
  grammar === undefined ? { type: 'text' } : { type: 'grammar', ...grammar };

function choiceOf(content: CallContent, names: ToolNames, isFiltered: boolean): string | TreeObject {
  const { toolChoice: choice, tools } = content;
  if (choice.mode === 'one') {
    const chosen = tools.find(({ name, namespace }) => name === choice.name && namespace === choice.namespace);
    return namedOf(chosen ?? choice, names);
  }
  const { allowed, mode } = choice;
  if (allowed === undefined || isFiltered) return mode;
  const named = allowedTools(content).map((tool) => namedOf(tool, names));
  return { type: 'allowed_tools', mode, tools: named };
}

const namedOf = (
  { name, namespace, freeform }: Pick<Tool, 'name' | 'namespace' | 'freeform'>,
  names: ToolNames,
): TreeObject => ({
  type: freeform === undefined ? 'function' : 'custom',
  namespace,
  name: names.wireName(name),
});
