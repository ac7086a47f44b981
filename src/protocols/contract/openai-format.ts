import type { OutputFormat } from './translation/content.js';
import type { TreeReader } from './translation/tree-reader.js';

// Output formats of both OpenAI protocols, which differ in where the schema is.

/** @param schemaIn reads the schema */
export function openAiFormat(
  format: TreeReader | undefined,
  schemaIn: (format: TreeReader) => OutputFormat,
): OutputFormat {
  if (format === undefined) return { kind: 'text' };
  switch (format.word('type')) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return schemaIn(format);
    default:
      throw format.malformed('type', 'must be "text", "json_object" or "json_schema"');
  }
}

/** A schema with its name and description; undefined if absent. */
export function openAiSchema(format: TreeReader): OutputFormat | undefined {
  const schema = format.raw('schema');
  if (schema === undefined) return undefined;
  return {
    kind: 'schema',
    schema,
    name: format.string('name'),
    strict: format.boolean('strict'),
    description: format.string('description'),
  };
}
