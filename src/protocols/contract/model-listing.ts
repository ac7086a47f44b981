import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { SplicedBody } from './call-body.js';
import { objectIn } from './json-text.js';
import type { UpstreamRequest } from './upstream-request.js';

/** A model of an upstream's list, with the facts that the upstream states. */
export interface UpstreamModel {
  /** As in calls. */
  readonly name: string;
  readonly displayName?: string;
  /** In tokens. */
  readonly contextWindow?: number;
  /** In tokens. */
  readonly maxOutputTokens?: number;
  /** `vision`, `tools` and `reasoning`, as far as the upstream states them. */
  readonly capabilities: readonly string[];
}

/** Lists an upstream's models. Pure. */
export interface ModelListing {
  readonly request: UpstreamRequest;
  /** Empty if the response has none. */
  read(body: unknown): readonly UpstreamModel[];
}

interface ListingForm {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly list: string;
  /** Undefined for models that cannot be called. */
  readonly nameOf: (model: JsonObject) => string | undefined;
}

/** A listing at `/models` below the channel's base URL. */
export const modelListing = ({ query = '', headers = {}, list, nameOf }: ListingForm): ModelListing => ({
  request: {
    path: '/models',
    query,
    method: 'GET',
    headers: { accept: 'application/json', ...headers },
    body: new SplicedBody({ bytes: Buffer.alloc(0) }),
  },
  read: (body) => {
    const models: unknown = isJsonObject(body) ? body[list] : undefined;
    return (Array.isArray(models) ? models : []).flatMap((model: unknown) => {
      const name = isJsonObject(model) ? nameOf(model) : undefined;
      return name === undefined ? [] : [{ name, ...factsOf(model as JsonObject) }];
    });
  },
});

/** The common form: `{ data: [{ id }] }`. */
export const idOf = ({ id }: JsonObject): string | undefined => (typeof id === 'string' ? id : undefined);

// Each vendor adds facts under names of its own, some in another vendor's protocol. They do not contradict each other.
const DISPLAY_NAMES = ['display_name', 'displayName', 'name'];
/** Anthropic, Gemini, OpenRouter, Groq, Mistral, vLLM. */
const CONTEXT_WINDOWS = [
  'max_input_tokens',
  'inputTokenLimit',
  'context_length',
  'context_window',
  'max_context_length',
  'max_model_len',
];
/** Anthropic, Gemini, Groq and OpenRouter. */
const OUTPUT_LIMITS = ['max_tokens', 'outputTokenLimit', 'max_completion_tokens'];

function factsOf(model: JsonObject): Omit<UpstreamModel, 'name'> {
  const displayName = first(model, DISPLAY_NAMES, isLabel);
  const contextWindow = first(model, CONTEXT_WINDOWS, isCount);
  const maxOutputTokens = first({ ...objectIn(model, 'top_provider'), ...model }, OUTPUT_LIMITS, isCount);
  return {
    ...(displayName !== undefined && { displayName }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    capabilities: Object.entries(statedCapabilities(model)).flatMap(([name, isStated]) => (isStated ? [name] : [])),
  };
}

function statedCapabilities(model: JsonObject): Readonly<Record<string, boolean>> {
  const stated = objectIn(model, 'capabilities');
  const [inputs, parameters] = [objectIn(model, 'architecture')['input_modalities'], model['supported_parameters']];
  return {
    vision: has(inputs, 'image') || stated['vision'] === true || isSupported(stated, 'image_input'),
    tools: has(parameters, 'tools') || stated['function_calling'] === true || isSupported(stated, 'server_tools'),
    reasoning: has(parameters, 'reasoning') || model['thinking'] === true || isSupported(stated, 'thinking'),
  };
}

const isSupported = (capabilities: JsonObject, name: string): boolean =>
  objectIn(capabilities, name)['supported'] === true;

const has = (list: unknown, value: string): boolean => Array.isArray(list) && list.includes(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
const isLabel = (value: unknown): value is string => typeof value === 'string' && /^\S.{0,98}\S$/u.test(value);

const first = <T>(object: JsonObject, names: readonly string[], is: (value: unknown) => value is T): T | undefined =>
  names.map((name) => object[name]).find(is);
