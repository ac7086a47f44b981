/** What the specs of a body's members are built from: the members that are read, and what is thrown at a wrong body. */

import { type JsonFields, readJsonFields } from '../../src/protocols/contract/json-fields.js';
import { jsonInterests } from '../../src/protocols/contract/json-members.js';
import { AppError } from '../../src/platform/shared/index.js';
import { refusalOf } from './calls.js';

export const INTERESTS = jsonInterests(
  'model',
  'stream',
  'messages',
  'max_tokens',
  'stream_options.include_usage',
  'reasoning.effort',
);

/** @throws AppError where the body is no object, or no JSON */
export const read = (json: string | Uint8Array): JsonFields => readJsonFields(Buffer.from(json), INTERESTS);

export const isRefused = (json: string): boolean => {
  try {
    read(json);
    return false;
  } catch (error) {
    return error instanceof AppError;
  }
};

/** The refusal. */
export const refused = (json: string | Uint8Array): AppError => refusalOf(() => read(json));
