import { describeFormat, type TreeObject } from '../contract/index.js';
import type { RequestBuild } from './gemini.build-context.js';

/** How the form of an answer is asked for: by members of `generationConfig`, in words, or not at all. */
interface FormatRequest {
  readonly config?: TreeObject;
  readonly words?: string | undefined;
}

const JSON_ANSWER = { responseMimeType: 'application/json' };

export function buildFormat({ content, flags, losses }: RequestBuild): FormatRequest {
  const { format, tools, hostedTools } = content;
  if (format.kind === 'text') return {};
  const isAlone = tools.length + hostedTools.length === 0;
  if (flags.takesFormats === 'never' || (flags.takesFormats === 'alone' && !isAlone)) {
    losses.warn('in_words', 'response_format');
    return { words: describeFormat(format) };
  }
  return { config: format.kind === 'json' ? JSON_ANSWER : { ...JSON_ANSWER, responseJsonSchema: format.schema } };
}
