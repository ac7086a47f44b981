import { headReader, jsonInterests, type CallHead, type HeadReader, type JsonFields } from '../../call/index.js';

/** The dialect's own id, for channels and the usage log. */
export const RESPONSES = 'responses';

export const OUTPUT_LIMIT = 'max_output_tokens';
const INTERESTS = jsonInterests(
  'model',
  'input',
  'prompt',
  'previous_response_id',
  'conversation',
  'stream',
  'background',
  'reasoning.effort',
  OUTPUT_LIMIT,
);
/** What can stand for an input: it lies with the upstream already. */
const STORED_INPUTS = ['prompt', 'previous_response_id', 'conversation'] as const;

export const responsesHeadReader = (): HeadReader => headReader(INTERESTS, headOf);

/** @throws AppError invalid_request naming the member at fault */
function headOf(fields: JsonFields): CallHead {
  const model = fields.requireString('model', { maxLength: 256 });
  const stored = STORED_INPUTS.some((name) => fields.has(name));
  if (!stored || fields.has('input')) fields.requireKind('input', 'string', 'array');
  refuseBackground(fields);
  return {
    model,
    stream: fields.optionalBoolean('stream') ?? false,
    outputLimit: fields.optionalInteger(OUTPUT_LIMIT, { min: 0 }),
    answers: 1,
    effort: fields.optionalString('reasoning.effort', { maxLength: 64 }),
    size: fields.size,
    fields,
  };
}

/** An answer that nobody waits for could not be settled. */
function refuseBackground(fields: JsonFields): void {
  if (fields.optionalBoolean('background') !== true) return;
  throw fields.refusal('background', 'unsupported_parameter', 'background responses are not supported; leave it out');
}
