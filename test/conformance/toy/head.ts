import {
  type CallHead,
  headReader,
  type HeadReader,
  interestsOf,
  type JsonFields,
  MemberReader,
  outsideIn,
  type RequestLine,
} from '../../../src/protocols/contract/index.js';
import { TELEGRAPH_MEMBERS } from './members.js';

const INTERESTS = interestsOf(TELEGRAPH_MEMBERS);
const MEMBERS = new MemberReader(TELEGRAPH_MEMBERS);

export const telegraphHeadReader = (request: RequestLine): HeadReader =>
  headReader(INTERESTS, (fields) => headOf(fields, request));

/** @throws AppError invalid_request naming the member */
function headOf(fields: JsonFields, request: RequestLine): CallHead {
  const model = fields.requireString('model', { maxLength: 256 });
  fields.requireKind('lines', 'array');
  return {
    model,
    stream: fields.optionalBoolean('stream') ?? false,
    outputLimit: fields.optionalInteger('limit', { min: 1 }),
    choices: 1,
    effort: undefined,
    outside: outsideIn(fields),
    demands: MEMBERS.demandsIn(fields, request),
    size: fields.size,
    fields,
  };
}
