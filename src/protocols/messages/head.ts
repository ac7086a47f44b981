import {
  type Call,
  type CallAffinity,
  type CallHead,
  type Effort,
  effortIn,
  effortOfBudget,
  effortsIn,
  headReader,
  type HeadReader,
  interestsOf,
  type JsonFields,
  MemberReader,
  type OutsideContent,
  outsideIn,
  promptEffortIn,
  refuseBackground,
  type RequestDemands,
  type RequestLine,
  serviceTierIn,
  upstreamHeaders,
  type UpstreamRequest,
} from '../contract/index.js';
import { NotInThread } from './errors.js';
import { DEFAULT_VERSION, versionHeaderOf } from './flags.js';
import { compacts, MESSAGES_MEMBERS } from './members.js';

/** Protocol ID in channels and in the usage log. */
export const MESSAGES = 'messages';

/** Client headers that verbatim calls forward; translated calls forward none. */
export const VERBATIM_HEADERS = ['anthropic-beta'] as const;

export const THINKING_BUDGET = 'thinking.budget_tokens';
/** Agents include their session. */
const USER = 'metadata.user_id';
const PREVIOUS = 'thread.previous_message_id';
/** From this message on. */
const MESSAGE_EFFORT = 'messages[].output_config.effort';
export const INTERESTS = interestsOf(MESSAGES_MEMBERS, MESSAGE_EFFORT);
export const MEMBERS = new MemberReader(MESSAGES_MEMBERS);

export const messagesHeadReader = (request: RequestLine): HeadReader =>
  headReader(INTERESTS, (fields) => headOf(fields, request));

/** @throws AppError invalid_request naming the member */
function headOf(fields: JsonFields, request: RequestLine): CallHead {
  const model = fields.requireString('model', { maxLength: 256 });
  const outputLimit = fields.optionalInteger('max_tokens', { min: 0 });
  if (outputLimit === undefined) throw fields.missing('max_tokens');
  fields.requireKind('messages', 'array');
  refuseBackground(fields);
  const demands = MEMBERS.demandsIn(fields, request);
  if (fields.has('thread')) requireThreadable(fields, demands);
  return {
    model,
    stream: fields.optionalBoolean('stream') ?? false,
    outputLimit,
    choices: 1,
    ...effortsIn(fields, effortIn(fields, 'output_config.effort') ?? effortOfThinking(fields), MESSAGE_EFFORT),
    serviceTier: serviceTierIn(fields),
    cacheLifetime: cacheLifetimeIn(fields),
    compacts: fields.has('compaction') || compacts(fields.object('context_management')),
    affinity: userIn(fields),
    // Threads are stored on request only.
    store: fields.has('thread') ? true : undefined,
    outside: outsideIn(fields) ?? continuedBy(fields),
    demands,
    size: fields.size,
    fields,
  };
}

/** Requests that continue a thread do not repeat its content. @throws AppError invalid_request naming the member */
function requireThreadable(fields: JsonFields, demands: RequestDemands | undefined): void {
  const { hostedTools = [], models = [], scopedIds = [], cacheLifetime } = demands ?? {};
  const [found] = [...hostedTools, ...models, ...scopedIds.filter(({ kind }) => kind !== 'thread')];
  const path = found?.path ?? promptEffortIn(fields, MESSAGE_EFFORT) ?? (cacheLifetime && 'cache_control');
  if (path !== undefined) throw new NotInThread(path);
}

/** In tokens. */
export function thinkingBudget(fields: JsonFields): number | undefined {
  if (fields.optionalString('thinking.type', { maxLength: 64 }) !== 'enabled') return undefined;
  return fields.optionalInteger(THINKING_BUDGET, { min: 0 });
}

function effortOfThinking(fields: JsonFields): Effort | undefined {
  if (fields.optionalString('thinking.type', { maxLength: 64 }) === 'disabled') return 'none';
  const budget = thinkingBudget(fields);
  return budget === undefined ? undefined : effortOfBudget(budget);
}

/** Cache markers of a thread are not in the requests that continue it. */
function cacheLifetimeIn(fields: JsonFields): CallHead['cacheLifetime'] {
  if (fields.has(PREVIOUS)) return '1h';
  return fields.size.cacheLifetime === undefined ? 'none' : undefined;
}

function continuedBy(fields: JsonFields): OutsideContent | undefined {
  return fields.has(PREVIOUS) ? { previousResponseId: fields.hint(PREVIOUS) } : undefined;
}

function userIn(fields: JsonFields): CallAffinity | undefined {
  const user = fields.hint(USER);
  return user === undefined ? undefined : { user };
}

/** Version and betas for verbatim requests. */
export const requestContext = (call: Call): Pick<UpstreamRequest, 'query' | 'headers'> => ({
  query: new URLSearchParams(call.request.query).get('beta') === 'true' ? 'beta=true' : '',
  headers: {
    ...upstreamHeaders(call, ...VERBATIM_HEADERS),
    'anthropic-version': versionHeaderOf(call.request) ?? DEFAULT_VERSION,
  },
});
