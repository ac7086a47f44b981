import {
  type BuildContext,
  type CallContent,
  describeFormat,
  jsonHeaders,
  type TranslationWarnings,
  pairResults,
  plainUser,
  SplicedBody,
  ToolNames,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
  DEFAULT_SERVICE_TIERS,
  writeJson,
} from '../contract/index.js';
import { buildFormat } from './chat-completions.built-format.js';
import { buildMessages } from './chat-completions.built-messages.js';
import { buildEffort, buildSampling } from './chat-completions.built-sampling.js';
import { buildTools } from './chat-completions.built-tools.js';
import { chatFlags, type ChatFlags, TOOL_NAME } from './chat-completions.flags.js';

export const PATH = '/chat/completions';

/**
 * The request for a call that came in another dialect.
 * @throws AppError invalid_request naming what this upstream cannot be asked
 */
export function buildChatRequest({ content, losses }: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const flags = chatFlags(target.flags);
  const { stream } = target;
  const stop = content.stop.slice(0, flags.stopMax);
  const names = new ToolNames(content.tools, TOOL_NAME);
  const paired = { ...content, turns: pairResults(content.turns, losses) };
  const body: TreeObject = {
    model: target.model,
    messages: buildMessages(withDescribedFormat(paired, flags, losses), {
      flags,
      names,
      losses,
      family: target.family,
    }),
    ...buildTools(content, { flags, names, losses }),
    ...buildLimit(content, { flags, losses, target }),
    ...buildSampling(content.sampling, flags, losses),
    ...(stop.length > 0 && { stop }),
    reasoning_effort: buildEffort(content.reasoning, flags, losses),
    response_format: buildFormat(content.format, flags),
    ...(flags.verbosity && { verbosity: content.verbosity }),
    user: content.endUser === undefined ? undefined : plainUser(content.endUser),
    ...(flags.cacheKey && { prompt_cache_key: content.cacheKey }),
    // The usual one is named nowhere: servers that know no other would refuse the name.
    service_tier: DEFAULT_SERVICE_TIERS.includes(content.serviceTier ?? 'auto') ? undefined : content.serviceTier,
    ...(stream && { stream, ...(flags.includeUsage && { stream_options: { include_usage: true } }) }),
  };
  return {
    path: PATH,
    query: '',
    headers: jsonHeaders(stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopsSent: stop.length,
  };
}

/** What a schema would have demanded is said in words to a model that knows none. */
function withDescribedFormat(
  content: CallContent,
  { structuredOutput }: ChatFlags,
  losses: TranslationWarnings,
): CallContent {
  const words = structuredOutput ? undefined : describeFormat(content.format);
  if (words === undefined) return content;
  losses.warn('in_words', 'response_format');
  return { ...content, lead: [...content.lead, { kind: 'text', text: words }] };
}

interface LimitContext {
  readonly flags: ChatFlags;
  readonly losses: TranslationWarnings;
  readonly target: UpstreamTarget;
}

/** Nothing where neither the client nor its money sets a limit. */
function buildLimit({ outputLimit }: CallContent, { flags, losses, target }: LimitContext): TreeObject {
  if (outputLimit !== undefined && outputLimit > target.maxOutputTokens) losses.warn('clamped', 'max_tokens');
  const limits = [outputLimit, target.outputLimit].filter((limit) => limit !== undefined);
  return limits.length === 0 ? {} : { [flags.limitName]: Math.min(...limits, target.maxOutputTokens) };
}
