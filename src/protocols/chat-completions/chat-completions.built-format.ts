import { conforming, type JsonTree, type OutputFormat } from '../contract/index.js';
import { type ChatFlags, TOOL_NAME } from './chat-completions.flags.js';

const DEFAULT_NAME = 'output';

/** The format of the answer; undefined for text, and where it can only be asked for in words. */
export function buildFormat(format: OutputFormat, flags: ChatFlags): JsonTree | undefined {
  if (!flags.structuredOutput) return undefined;
  switch (format.kind) {
    case 'text':
      return undefined;
    case 'json':
      return { type: 'json_object' };
    case 'schema': {
      const { name = DEFAULT_NAME, description, schema, strict } = format;
      const strictness = flags.strictSchema ? strict : undefined;
      const json_schema = { name: conforming(name, TOOL_NAME), description, schema, strict: strictness };
      return { type: 'json_schema', json_schema };
    }
    default:
      return format satisfies never;
  }
}
