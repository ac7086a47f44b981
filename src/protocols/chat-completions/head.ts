import {
  cacheAffinityIn,
  type CallHead,
  headReader,
  type HeadReader,
  interestsOf,
  type JsonFields,
  MemberReader,
  outsideIn,
  PROMPT_CACHE_KEY,
  refuseBackground,
  type RequestLine,
  serviceTierIn,
} from '../contract/index.js';
import { CHAT_MEMBERS } from './members.js';

/** Protocol ID in channels and in the usage log. */
export const CHAT_COMPLETIONS = 'chat-completions';

/** Client headers that verbatim calls forward; translated calls forward none. */
export const VERBATIM_HEADERS = ['openai-beta'] as const;

/** Both names of the output limit; some servers know only one. */
export const OUTPUT_LIMITS = ['max_completion_tokens', 'max_tokens'] as const;
export const INCLUDE_USAGE = 'stream_options.include_usage';
/** Enables web search. */
export const WEB_SEARCH = 'web_search_options';

/** Members of a response that are output, including common extensions. */
export const OUTPUT_MEMBERS = ['content', 'reasoning_content', 'reasoning', 'refusal', 'name', 'arguments', 'input'];

const MAX_CHOICES = 128;
const INTERESTS = interestsOf(CHAT_MEMBERS);
const MEMBERS = new MemberReader(CHAT_MEMBERS);

export const chatHeadReader = (request: RequestLine): HeadReader =>
  headReader(INTERESTS, (fields) => headOf(fields, request));

/** @throws AppError invalid_request naming the member */
function headOf(fields: JsonFields, request: RequestLine): CallHead {
  const model = fields.requireString('model', { maxLength: 256 });
  fields.requireKind('messages', 'array');
  refuseBackground(fields);
  return {
    model,
    stream: fields.optionalBoolean('stream') ?? false,
    outputLimit: readOutputLimit(fields),
    choices: fields.optionalInteger('n', { min: 1, max: MAX_CHOICES }) ?? 1,
    effort: fields.optionalString('reasoning_effort', { maxLength: 64 }),
    serviceTier: serviceTierIn(fields),
    affinity: cacheAffinityIn(fields, PROMPT_CACHE_KEY),
    outside: outsideIn(fields),
    demands: MEMBERS.demandsIn(fields, request),
    size: fields.size,
    fields,
  };
}

/** The larger one, since upstreams differ. */
function readOutputLimit(fields: JsonFields): number | undefined {
  const limits = OUTPUT_LIMITS.map((name) => fields.optionalInteger(name, { min: 0 })).filter(
    (limit) => limit !== undefined,
  );
  return limits.length === 0 ? undefined : Math.max(...limits);
}
