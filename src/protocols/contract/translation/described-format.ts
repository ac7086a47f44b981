import type { OutputFormat } from './content.js';

/** What a format demands as an instruction, for models that can only be asked; undefined for text. */
export function describeFormat(format: OutputFormat): string | undefined {
  switch (format.kind) {
    case 'text':
      return undefined;
    case 'json':
      return 'Respond with a single JSON object and nothing else.';
    case 'schema':
      return `Respond with a single JSON value and nothing else. It must match this JSON schema:\n${format.schema.text}`;
    default:
      return format satisfies never;
  }
}
