import { AppError } from '../../platform/shared/index.js';
import { classifyInnerError } from './classify-upstream.js';
import { readJsonFields, type JsonFields } from './json-fields.js';
import type { JsonInterest } from './json-interests.js';

/**
 * The members of a whole answer that a meter looks at; `error` must be one of the interests.
 * @throws AppError when the answer is an error in disguise, or no JSON object
 */
export function readResponseFields(body: Uint8Array, interests: JsonInterest): JsonFields {
  let fields: JsonFields;
  let error: unknown;
  try {
    fields = readJsonFields(body, interests);
    error = fields.value('error');
  } catch (cause) {
    const message = 'The upstream sent a response that is not a JSON object.';
    throw new AppError('upstream_error', message, { failover: true }, { cause });
  }
  // Some upstreams always have the member, with null or false in it.
  if (error) throw classifyInnerError({ error });
  return fields;
}
