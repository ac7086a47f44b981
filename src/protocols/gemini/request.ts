import {
  type CallContent,
  type HostedTool,
  malformed,
  type OutputFormat,
  type ParseContext,
  type RawJson,
  type ReasoningRequest,
  type Sampling,
  stopSequences,
  type Tool,
  type ToolChoice,
  type TreeObject,
  TreeReader,
  unsupported,
} from '../contract/index.js';
import { DYNAMIC_BUDGET, effortOfLevel, serviceTierOf } from './head.js';
import { readConversation } from './request-contents.js';
import { jsonSchemaOf } from './schema.js';
import { inCamelCase, spellings } from './wire.js';

/** Of tools and formats, arguments and results of functions. */
export const RAW_MEMBERS: ReadonlySet<string> = new Set(
  ['args', 'response', 'parameters', 'parametersJsonSchema', 'responseSchema', 'responseJsonSchema']
    .flatMap(spellings)
    .concat('_responseJsonSchema'),
);

const MAX_LOGPROBS = 20;

/** @throws AppError invalid_request naming the member */
export function parseGeminiRequest(request: TreeObject, context: ParseContext): CallContent {
  const reader = new TreeReader(inCamelCase(request));
  const config = reader.child('generationConfig') ?? new TreeReader({}, 'generationConfig');
  rejectUnsupported(reader, config);
  const { lead, turns } = readConversation(reader, context);
  if (!turns.some(({ role }) => role === 'user')) throw malformed('contents', 'must contain user content');
  const { tools, hostedTools } = readTools(reader);
  return {
    lead,
    turns,
    tools,
    hostedTools,
    toolChoice: readChoice(reader.child('toolConfig')?.child('functionCallingConfig'), tools),
    parallelTools: undefined,
    outputLimit: config.integer('maxOutputTokens', { min: 1 }),
    stop: stopSequences(config.strings('stopSequences'), config.pathOf('stopSequences')),
    sampling: readSampling(config),
    reasoning: readReasoning(config.child('thinkingConfig')),
    format: readFormat(config),
    verbosity: undefined,
    endUser: undefined,
    cacheKey: undefined,
    serviceTier: serviceTierOf(reader.string('serviceTier')),
  };
}

function rejectUnsupported(reader: TreeReader, config: TreeReader): void {
  if (reader.string('cachedContent') !== undefined)
    throw unsupported('cachedContent', 'refers to content stored with another vendor; send the content');
  if ((config.integer('candidateCount') ?? 1) > 1)
    throw unsupported(config.pathOf('candidateCount'), 'must be 1: this upstream returns a single candidate');
  const other = config.strings('responseModalities').find((modality) => modality.toUpperCase() !== 'TEXT');
  if (other !== undefined)
    throw unsupported(config.pathOf('responseModalities'), `requests ${other}, which this upstream does not support`);
}

/** By their names in other protocols; the others are known to Google only. */
const HOSTED_TOOLS: Readonly<Record<string, string>> = {
  googleSearch: 'web_search',
  googleSearchRetrieval: 'web_search',
  enterpriseWebSearch: 'web_search',
  urlContext: 'web_fetch',
  codeExecution: 'code_execution',
};
const FUNCTIONS = 'functionDeclarations';

function readTools(reader: TreeReader): {
  readonly tools: readonly Tool[];
  readonly hostedTools: readonly HostedTool[];
} {
  const tools: Tool[] = [];
  const hostedTools: HostedTool[] = [];
  for (const entry of reader.children('tools')) {
    tools.push(...entry.children(FUNCTIONS).map(readFunction));
    for (const name of entry.names) {
      if (name === FUNCTIONS || !entry.has(name)) continue;
      if (name === 'computerUse') throw unsupported(entry.pathOf(name), 'is supported only by its own vendor');
      hostedTools.push({ type: HOSTED_TOOLS[name] ?? name, path: entry.pathOf(name) });
    }
  }
  return { tools, hostedTools };
}

const readFunction = (declaration: TreeReader): Tool => ({
  name: declaration.word('name'),
  description: declaration.string('description'),
  schema: schemaIn(declaration, 'parametersJsonSchema', 'parameters'),
  path: declaration.path,
});

/** @param own name of the same in Google's subset of OpenAPI */
function schemaIn(reader: TreeReader, name: string, own: string): RawJson | undefined {
  const schema = reader.raw(own);
  return reader.raw(name) ?? (schema && jsonSchemaOf(schema));
}

function readChoice(calling: TreeReader | undefined, tools: readonly Tool[]): ToolChoice {
  const allowed = calling?.strings('allowedFunctionNames') ?? [];
  const unknown = allowed.find((allowedName) => !tools.some(({ name }) => name === allowedName));
  if (calling !== undefined && unknown !== undefined)
    throw calling.malformed(
      'allowedFunctionNames',
      `names ${JSON.stringify(unknown)}, which is not a declared function`,
    );
  switch (calling?.string('mode')?.toUpperCase()) {
    case undefined:
    case 'MODE_UNSPECIFIED':
    case 'AUTO':
      return { mode: 'auto' };
    case 'VALIDATED':
      return { mode: 'auto', ...(allowed.length > 0 && { allowed }) };
    case 'NONE':
      return { mode: 'none' };
    case 'ANY': {
      const [name, ...others] = allowed;
      if (name !== undefined && others.length === 0) return { mode: 'one', name };
      return { mode: 'required', ...(allowed.length > 0 && { allowed }) };
    }
    default:
      throw malformed('toolConfig.functionCallingConfig.mode', 'must be AUTO, ANY, VALIDATED or NONE');
  }
}

function readSampling(config: TreeReader): Sampling {
  const topLogprobs = config.integer('logprobs', { min: 0, max: MAX_LOGPROBS });
  return {
    temperature: config.number('temperature', { min: 0, max: 2 }),
    topP: config.number('topP', { min: 0, max: 1 }),
    topK: config.integer('topK', { min: 1 }),
    presencePenalty: config.number('presencePenalty', { min: -2, max: 2 }),
    frequencyPenalty: config.number('frequencyPenalty', { min: -2, max: 2 }),
    seed: config.integer('seed'),
    topLogprobs: config.boolean('responseLogprobs') === true ? (topLogprobs ?? 0) : undefined,
  };
}

function readReasoning(thinking: TreeReader | undefined): ReasoningRequest {
  const show = thinking?.boolean('includeThoughts') === true ? 'text' : 'sealed';
  const effort = effortOfLevel(thinking?.string('thinkingLevel'));
  const budget = thinking?.integer('thinkingBudget', { min: DYNAMIC_BUDGET }) ?? DYNAMIC_BUDGET;
  if (budget === 0) return { thinking: 'off', show };
  return { effort, budget: budget > 0 ? budget : undefined, show };
}

const JSON_TYPE = 'application/json';

function readFormat(config: TreeReader): OutputFormat {
  const type = config.string('responseMimeType')?.toLowerCase() ?? '';
  const schema =
    schemaIn(config, 'responseJsonSchema', 'responseSchema') ??
    schemaIn(config, '_responseJsonSchema', 'responseSchema');
  if (type === JSON_TYPE) return schema === undefined ? { kind: 'json' } : { kind: 'schema', schema };
  if (type === '' || type === 'text/plain') return { kind: 'text' };
  throw unsupported(config.pathOf('responseMimeType'), `${JSON.stringify(type)} is not supported by this upstream`);
}
