import {
  type CallHead,
  headReader,
  type HeadReader,
  type JsonFields,
  jsonInterests,
  outsideIn,
} from '../../../src/call/index.js';

const INTERESTS = jsonInterests('model', 'lines', 'limit', 'stream');

export const telegraphHeadReader = (): HeadReader => headReader(INTERESTS, headOf);

/** @throws AppError invalid_request naming the member at fault */
function headOf(fields: JsonFields): CallHead {
  const model = fields.requireString('model', { maxLength: 256 });
  fields.requireKind('lines', 'array');
  return {
    model,
    stream: fields.optionalBoolean('stream') ?? false,
    outputLimit: fields.optionalInteger('limit', { min: 1 }),
    answers: 1,
    effort: undefined,
    outside: outsideIn(fields),
    size: fields.size,
    fields,
  };
}
