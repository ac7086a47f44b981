import { type JsonFields, type JsonTree, malformed, isTreeObject, type TreeObject } from '../contract/index.js';

/** Protocol ID in channels and in the usage log. */
export const GEMINI = 'gemini';

/** Calls, by whether the response is streamed. */
export const WHOLE_PATH = '/v1beta/models/{model}:generateContent';
export const STREAM_PATH = '/v1beta/models/{model}:streamGenerateContent';
export const COUNT_PATH = '/v1beta/models/{model}:countTokens';
export const MODELS_PATH = '/v1beta/models';

/** Streams without this are one JSON array. */
export const isEventStream = (query: string): boolean => new URLSearchParams(query).get('alt') === 'sse';

// Google's JSON parsers accept every member in camel case and in snake case.

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelCase = (name: string): string =>
  name.replaceAll(/(?<=[A-Za-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** All spellings of a path: `generationConfig.topK`, `generation_config.topK` and so on. */
export function spellings(path: string): readonly string[] {
  let paths = [''];
  for (const name of path.split('.')) {
    const names = new Set([name, snakeCase(name)]);
    paths = paths.flatMap((parent) => [...names].map((spelled) => (parent === '' ? spelled : `${parent}.${spelled}`)));
  }
  return paths;
}

/**
 * The path as the request spells it.
 * @throws AppError invalid_request when it has the member in several spellings
 */
export function spelledIn(fields: JsonFields, path: string): string {
  const [first, second] = spellings(path).filter((spelling) => fields.field(spelling) !== undefined);
  if (second !== undefined) throw fields.refusal(second, 'invalid_value', `duplicate of ${first}`);
  return first ?? path;
}

/** A request in camel case. @throws AppError invalid_request when it has a member in both spellings */
export function inCamelCase(request: TreeObject): TreeObject {
  return objectInCamelCase(request, '');
}

function valueInCamelCase(value: JsonTree | undefined, path: string): JsonTree | undefined {
  if (Array.isArray(value)) {
    return (value as readonly JsonTree[]).map((item, index) => valueInCamelCase(item, `${path}[${index}]`) ?? null);
  }
  return isTreeObject(value) ? objectInCamelCase(value, path) : value;
}

function objectInCamelCase(object: TreeObject, path: string): TreeObject {
  const members = new Map<string, JsonTree | undefined>();
  for (const [written, value] of Object.entries(object)) {
    const name = camelCase(written);
    const own = path === '' ? written : `${path}.${written}`;
    if (members.has(name)) throw malformed(own, 'is a duplicate in another spelling');
    members.set(name, valueInCamelCase(value, own));
  }
  return Object.fromEntries(members);
}

// Signatures are base64, which strict clients decode: seals are encoded once more.

const SEALED = /^rly1\./;

export const wireSignature = (seal: string): string => Buffer.from(seal).toString('base64');

/** The seal in a signature; as is if it has none. */
export function sealIn(signature: string): string {
  const text = Buffer.from(signature, 'base64').toString('latin1');
  return SEALED.test(text) ? text : signature;
}
