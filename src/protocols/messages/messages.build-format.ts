import {
  describeFormat,
  parseJsonTree,
  RawJson,
  writeJson,
  type JsonTree,
  type OutputFormat,
  type TreeObject,
  isTreeObject,
} from '../contract/index.js';
import type { RequestBuild } from './messages.build-context.js';
import { RESPOND, respondsByTool } from './messages.respond-tool.js';

/** How the form of an answer is asked for: by a member, by a forced tool, in words, or not at all. */
export interface FormatRequest {
  readonly format?: TreeObject;
  readonly tool?: TreeObject;
  readonly words?: string;
}

export function buildFormat({ content, flags, losses }: RequestBuild): FormatRequest {
  const { format } = content;
  if (format.kind === 'text') return {};
  if (format.kind === 'json') {
    losses.warn('in_words', 'response_format');
    return wordsOf(format);
  }
  const schema = format.strict === true ? closed(format.schema) : format.schema;
  if (flags.takesFormats) return { format: { type: 'json_schema', schema } };
  if (respondsByTool(content, flags)) {
    return { tool: { name: RESPOND, description: 'Gives the answer.', input_schema: schema } };
  }
  losses.warn('in_words', 'response_format');
  return wordsOf({ ...format, schema });
}

function wordsOf(format: OutputFormat): FormatRequest {
  const words = describeFormat(format);
  return words === undefined ? {} : { words };
}

const NOTHING: ReadonlySet<string> = new Set();

/** A schema whose objects have nothing but their properties: what `strict` says in other dialects, said in the schema here. */
function closed(schema: RawJson): RawJson {
  const tree = parseJsonTree(schema.text, NOTHING);
  const text = writeJson(close(tree));
  return text === writeJson(tree) ? schema : new RawJson(text);
}

function close(schema: JsonTree): JsonTree {
  if (Array.isArray(schema)) return schema.map((entry: JsonTree) => close(entry));
  if (!isTreeObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value = null]) => [name, close(value)]));
  const isOpen = schema['type'] === 'object' && schema['additionalProperties'] === undefined;
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}
