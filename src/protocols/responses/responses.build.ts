import {
  jsonHeaders,
  nearestEffort,
  pairResults,
  plainUser,
  SplicedBody,
  ToolNames,
  requestedEffort,
  writeJson,
  type BuildContext,
  type CallContent,
  type TranslationWarnings,
  type OutputFormat,
  type TreeObject,
  type Turn,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import { responsesFlags, type ResponsesFlags } from './responses.flags.js';
import { MIN_OUTPUT_TOKENS, OUTPUT_LIMIT } from './responses.head.js';
import { itemsOfTurn, NAME_RULE, type ItemContext } from './responses.items.js';
import { buildTools } from './responses.offered-tools.js';

/** The request of a client of another dialect. Nothing is kept upstream: reasoning comes back encrypted instead. */
export function buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content, losses } = context;
  const flags = responsesFlags(target);
  const names = new ToolNames(content.tools, NAME_RULE);
  addWarnings(content, losses);
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

/** What this dialect has no word for. Stop texts are looked for in the answer. */
function addWarnings({ sampling }: CallContent, losses: TranslationWarnings): void {
  const lost = {
    top_k: sampling.topK,
    logit_bias: sampling.logitBias,
    logprobs: sampling.topLogprobs,
    presence_penalty: sampling.presencePenalty === 0 ? undefined : sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty === 0 ? undefined : sampling.frequencyPenalty,
  };
  for (const [path, value] of Object.entries(lost)) if (value !== undefined) losses.warn('unsupported_parameter', path);
}

function buildConversation({ content, losses }: BuildContext, context: ItemContext): TreeObject {
  const { leadInInput } = context.flags;
  const lead: readonly Turn[] = content.lead.map((part) => ({ role: 'system', parts: [part] }));
  const turns = pairResults(content.turns, losses);
  if (turns.at(-1)?.role === 'assistant') losses.warn('prefill', 'messages');
  return {
    instructions: leadInInput || lead.length === 0 ? undefined : content.lead.map(({ text }) => text).join('\n\n'),
    input: [...(leadInInput ? lead : []), ...turns].flatMap((turn) => [...itemsOfTurn(turn, context)]),
  };
}

/** The lowest of all limits; the vendor's least is raised to where nobody else sets a lower one on purpose. */
function limitOf({ content, losses }: BuildContext, target: UpstreamTarget): number | undefined {
  const { outputLimit: wanted = Infinity } = content;
  const limit = Math.min(wanted, target.outputLimit ?? Infinity);
  if (limit === Infinity) return undefined;
  const isKnown = wanted === Infinity || (wanted >= MIN_OUTPUT_TOKENS && wanted <= target.maxOutputTokens);
  if (!isKnown) losses.warn('clamped', 'max_tokens');
  return Math.max(MIN_OUTPUT_TOKENS, Math.min(limit, target.maxOutputTokens));
}

function buildSampling({ content: { sampling }, losses }: BuildContext, flags: ResponsesFlags): TreeObject {
  const { temperature, topP } = sampling;
  if (flags.takesSampling) return { temperature, top_p: topP };
  if ((temperature ?? 1) !== 1) losses.warn('unsupported_parameter', 'temperature');
  if ((topP ?? 1) !== 1) losses.warn('unsupported_parameter', 'top_p');
  return {};
}

function buildReasoning({ content: { reasoning }, losses }: BuildContext, flags: ResponsesFlags): TreeObject {
  const wished = requestedEffort(reasoning);
  if (!flags.reasons) {
    if (wished !== undefined && wished !== 'none') losses.warn('unsupported_parameter', 'reasoning_effort');
    return {};
  }
  const effort = wished === undefined ? undefined : nearestEffort(wished, flags.efforts);
  if (effort !== wished)
    losses.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', 'reasoning_effort');
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
