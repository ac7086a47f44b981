import {
  type CallHead,
  type Effort,
  effortOfBudget,
  headReader,
  type HeadReader,
  interestsOf,
  type JsonFields,
  MemberReader,
  modelInPath,
  outsideIn,
  type RequestLine,
  UNKNOWN_CONTENT,
} from '../contract/index.js';
import { COUNT_MEMBERS, GEMINI_MEMBERS } from './members.js';
import { COUNT_PATH, spelledIn, STREAM_PATH, WHOLE_PATH } from './wire.js';

const MAX_MODEL_LENGTH = 256;
const MAX_CANDIDATES = 128;
const MAX_WORD_LENGTH = 64;

const INTERESTS = interestsOf(GEMINI_MEMBERS);
const MEMBERS = new MemberReader(GEMINI_MEMBERS);
const COUNT_INTERESTS = interestsOf(COUNT_MEMBERS);
const COUNTED_MEMBERS = new MemberReader(COUNT_MEMBERS);

export const geminiHeadReader = (request: RequestLine): HeadReader =>
  headReader(INTERESTS, (fields) => headOf(fields, request));

export const isStreamPath = ({ path }: RequestLine): boolean => modelInPath([STREAM_PATH], path) !== undefined;

/** @throws AppError invalid_request naming the member */
function headOf(fields: JsonFields, request: RequestLine): CallHead {
  const model = requireModel(fields, request, [WHOLE_PATH, STREAM_PATH]);
  fields.requireKind('contents', 'array');
  for (const path of ['systemInstruction', 'toolConfig', 'generationConfig', THINKING]) spelledIn(fields, path);
  const cached = fields.has(spelledIn(fields, 'cachedContent'));
  return {
    model,
    stream: isStreamPath(request),
    outputLimit: fields.optionalInteger(spelledIn(fields, OUTPUT_LIMIT), { min: 1 }),
    choices: fields.optionalInteger(spelledIn(fields, CANDIDATES), { min: 1, max: MAX_CANDIDATES }) ?? 1,
    effort: effortIn(fields),
    serviceTier: serviceTierOf(fields.optionalString(spelledIn(fields, 'serviceTier'), { maxLength: MAX_WORD_LENGTH })),
    outside: cached ? UNKNOWN_CONTENT : outsideIn(fields),
    demands: MEMBERS.demandsIn(fields, request),
    size: fields.size,
    fields,
  };
}

const THINKING = 'generationConfig.thinkingConfig';
const CANDIDATES = 'generationConfig.candidateCount';
export const OUTPUT_LIMIT = 'generationConfig.maxOutputTokens';

/** The path decides; a model in the body is ignored, as by the vendor. */
function requireModel(fields: JsonFields, { path }: RequestLine, callPaths: readonly string[]): string {
  fields.optionalString('model', { maxLength: 2 * MAX_MODEL_LENGTH });
  const model = modelInPath(callPaths, path);
  if (model === undefined) throw fields.missing('model');
  if (model.length <= MAX_MODEL_LENGTH) return model;
  throw fields.refusal('model', 'invalid_value', `must not be longer than ${MAX_MODEL_LENGTH} characters`);
}

function effortIn(fields: JsonFields): Effort | undefined {
  const level = fields.optionalString(spelledIn(fields, `${THINKING}.thinkingLevel`), { maxLength: MAX_WORD_LENGTH });
  const budget = fields.optionalInteger(spelledIn(fields, `${THINKING}.thinkingBudget`), { min: DYNAMIC_BUDGET });
  if (budget === 0) return 'none';
  return effortOfLevel(level) ?? (budget === undefined || budget < 0 ? undefined : effortOfBudget(budget));
}

/** The model chooses the budget. */
export const DYNAMIC_BUDGET = -1;

/** Undefined for the model's default. */
export const effortOfLevel = (level: string | undefined): Effort | undefined =>
  level === undefined || level.toUpperCase() === 'THINKING_LEVEL_UNSPECIFIED' ? undefined : level.toLowerCase();

/** `flex`, `priority`; undefined for the default tier. */
export function serviceTierOf(tier: string | undefined): string | undefined {
  const name = tier?.toLowerCase().replace(/^service_tier_/, '');
  return name === undefined || name === '' || name === 'unspecified' ? undefined : name;
}

/** Of `countTokens`. */
export const countHeadReader = (request: RequestLine): HeadReader =>
  headReader(COUNT_INTERESTS, (fields) => {
    const whole = spelledIn(fields, COUNTED);
    if (!fields.has(whole)) fields.requireKind('contents', 'array');
    return {
      model: requireModel(fields, request, [COUNT_PATH]),
      stream: false,
      outputLimit: undefined,
      choices: 1,
      effort: undefined,
      demands: COUNTED_MEMBERS.demandsIn(fields, request),
      size: fields.size,
      fields,
    };
  });

export const COUNTED = 'generateContentRequest';
