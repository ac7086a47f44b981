import {
  cacheAffinityIn,
  type CallAffinity,
  type CallHead,
  effortIn,
  effortsIn,
  headReader,
  type HeadReader,
  interestsOf,
  isInPrompt,
  type JsonElement,
  type JsonFields,
  MemberReader,
  type OutsideContent,
  outsideIn,
  PROMPT_CACHE_KEY,
  promptEffortIn,
  type RequestDemands,
  type RequestLine,
  serviceTierIn,
} from '../contract/index.js';
import { RESPONSES_MEMBERS } from './members.js';

/** Protocol ID in channels and in the usage log. */
export const RESPONSES = 'responses';

/** Names of beta features, separated by commas. */
export const BETA = 'openai-beta';

/** Client headers that verbatim calls forward; translated calls forward none. */
export const VERBATIM_HEADERS = [BETA] as const;

export const COMPACT_PATH = '/v1/responses/compact';
/** The last input item: the response is a compaction. */
export const COMPACTION_TRIGGER = 'compaction_trigger';
const CONTEXT_MANAGEMENT = 'context_management';

export const OUTPUT_LIMIT = 'max_output_tokens';
/** The vendor's minimum. */
export const MIN_OUTPUT_TOKENS = 16;
const PREVIOUS_RESPONSE = 'previous_response_id';
/** Longer than any vendor's. */
export const MAX_ID_LENGTH = 1024;
/** An ID, or an object with one. */
const CONVERSATION = 'conversation';
const CONVERSATION_ID = 'conversation.id';
const ITEMS = 'input[]';
const [ITEM_ID, ITEM_TYPE] = [`${ITEMS}.id`, `${ITEMS}.type`];
/** Of a configuration update, from this item on. */
const ITEM_EFFORT = `${ITEMS}.reasoning.effort`;
const INTERESTS = interestsOf(RESPONSES_MEMBERS, ITEM_ID, ITEM_TYPE, ITEM_EFFORT);
const MEMBERS = new MemberReader(RESPONSES_MEMBERS);
/** Alternatives to an input, stored upstream. */
const STORED_INPUTS = ['prompt', PREVIOUS_RESPONSE, CONVERSATION] as const;

export const responsesHeadReader = (request: RequestLine): HeadReader =>
  headReader(INTERESTS, (fields) => headOf(fields, request));

/** @throws AppError invalid_request naming the member */
function headOf(fields: JsonFields, request: RequestLine): CallHead {
  const model = fields.requireString('model', { maxLength: 256 });
  const stored = STORED_INPUTS.some((name) => fields.has(name));
  if (!stored || fields.has('input')) fields.requireKind('input', 'string', 'array');
  const background = fields.optionalBoolean('background') === true;
  const isCompaction = compactsOnly(request);
  const unsuitable = isCompaction ? ['stream', 'background'].find((name) => fields.isTrue(name)) : undefined;
  if (unsuitable !== undefined)
    throw fields.refusal(unsuitable, 'unsupported_parameter', 'not possible for compactions; remove it');
  if (background && fields.optionalBoolean('store') === false)
    throw fields.refusal('background', 'invalid_value', 'background responses are stored; remove "store": false');
  const demands = MEMBERS.demandsIn(fields, request);
  const priced = pricedInputIn(fields, demands);
  if (priced !== undefined && fields.has(CONVERSATION))
    throw fields.refusal(priced, 'unsupported_parameter', 'not possible in conversations; set it outside "input"');
  return {
    model,
    // Background responses can be streamed later.
    stream: (fields.optionalBoolean('stream') ?? false) || background,
    background,
    outputLimit: fields.optionalInteger(OUTPUT_LIMIT, { min: 0 }),
    choices: 1,
    ...effortsIn(fields, effortIn(fields, 'reasoning.effort'), ITEM_EFFORT),
    serviceTier: serviceTierIn(fields),
    // Compactions carry their content with them.
    store: isCompaction || priced !== undefined ? false : fields.optionalBoolean('store'),
    compacts: isCompaction || wantsCompaction(fields),
    affinity: affinityIn(fields),
    outside: outsideContentIn(fields),
    demands,
    size: fields.size,
    fields,
  };
}

/** Path of input that would also change later calls, whose price would not include it: hosted tools, efforts. */
const pricedInputIn = (fields: JsonFields, demands: RequestDemands | undefined): string | undefined =>
  demands?.hostedTools.find(isInPrompt)?.path ?? promptEffortIn(fields, ITEM_EFFORT);

/** Whether the request is for a compaction, which has other members and another response. */
export const compactsOnly = ({ path }: RequestLine): boolean => path === COMPACT_PATH;

function wantsCompaction(fields: JsonFields): boolean {
  const type = fields.elements(ITEMS).at(-1)?.members.get(ITEM_TYPE);
  if (type !== undefined && fields.decoded(type, ITEM_TYPE) === COMPACTION_TRIGGER) return true;
  const management = fields.value(CONTEXT_MANAGEMENT);
  return Array.isArray(management) && management.length > 0;
}

/** If a previous response is the only outside content, its tokens may be known. */
function outsideContentIn(fields: JsonFields): OutsideContent | undefined {
  const previousResponseId = fields.optionalString(PREVIOUS_RESPONSE, { maxLength: MAX_ID_LENGTH });
  if (fields.has(CONVERSATION) || fields.has('prompt')) return { previousResponseId: undefined };
  if (fields.elements(ITEMS).some(mayBeReference)) return { previousResponseId: undefined };
  return outsideIn(fields) ?? (previousResponseId === undefined ? undefined : { previousResponseId });
}

/** References may omit their type. Verified when the request is parsed. */
const mayBeReference = ({ members }: JsonElement): boolean =>
  members.get(ITEM_ID)?.kind === 'string' && (members.get(ITEM_TYPE)?.kind ?? 'null') === 'null';

/** A conversation is stored at one upstream, with the prefix of its calls. */
const affinityIn = (fields: JsonFields): CallAffinity | undefined =>
  cacheAffinityIn(fields, CONVERSATION) ??
  cacheAffinityIn(fields, CONVERSATION_ID) ??
  cacheAffinityIn(fields, PROMPT_CACHE_KEY);
