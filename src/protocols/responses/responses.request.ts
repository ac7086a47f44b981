import {
  ConversationBuilder,
  malformed,
  notTranslatable,
  openAiFormat,
  openAiSchema,
  TreeReader,
  type CallContent,
  type OutputFormat,
  type ParseContext,
  type ReasoningRequest,
  type Sampling,
  type TreeObject,
} from '../contract/index.js';
import { OUTPUT_LIMIT } from './responses.head.js';
import { itemsOf, readInput } from './responses.input.js';
import { readToolChoice, readTools } from './responses.requested-tools.js';

/** Schemas, which are carried over as they were written. */
export const RAW_MEMBERS: ReadonlySet<string> = new Set(['parameters', 'schema']);

/** What lies with the vendor, or is a matter between it and its clients. */
const VENDORS = ['previous_response_id', 'conversation', 'prompt', 'access_programs'];

/** What a request asks for. @throws AppError invalid_request naming the member at fault */
export function parseRequest(body: TreeObject, context: ParseContext): CallContent {
  const request = new TreeReader(body);
  refuseVendors(request);
  if (request.string('truncation') === 'auto') context.losses.warn('unsupported_parameter', 'truncation');
  const conversation = readConversation(request, context);
  const { tools, hostedTools } = readTools(
    [request, ...itemsOf(request, 'additional_tools')].flatMap((holder) => holder.children('tools')),
  );
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
  };
}

function refuseVendors(request: TreeReader): void {
  for (const name of VENDORS) {
    if (request.has(name)) throw notTranslatable(name, 'not supported by the upstream of this model; remove it');
  }
  const policy = request.child('moderation')?.child('policy');
  for (const side of [policy?.child('input'), policy?.child('output')]) {
    if (side?.string('mode') === 'block') throw notTranslatable(side.path, 'is not supported by this upstream');
  }
}

function readConversation(request: TreeReader, context: ParseContext): Pick<CallContent, 'lead' | 'turns'> {
  const conversation = new ConversationBuilder();
  conversation.instruct(request.string('instructions') ?? '');
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
    // It comes back from the client, or from where its answer is kept.
    show: isReadable ? 'text' : 'sealed',
  };
}

const includes = (request: TreeReader, what: string): boolean => request.strings('include').includes(what);

/** The group of settings that has the last word on one of them: items of the input may update the request. */
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
