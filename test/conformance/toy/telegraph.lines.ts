import {
  notTranslatable,
  type Part,
  textOfFile,
  type ToolNames,
  type TreeObject,
  type Turn,
  wrapFreeform,
} from '../../../src/call/index.js';

const SENDERS = { system: 'system', user: 'user', assistant: 'model' } as const;

/** The lines of a conversation whose results are paired. @throws AppError invalid_request when one is no text */
export const buildLines = (turns: readonly Turn[], names: ToolNames): readonly TreeObject[] =>
  turns.flatMap(({ role, parts }) => parts.flatMap((part) => buildLine(part, SENDERS[role], names)));

function buildLine(part: Part, from: string, names: ToolNames): TreeObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [{ from, text: part.text }];
    case 'tool-call': {
      const { id: call, name, namespace, arguments: text, isFreeform = false } = part;
      const tool = names.wireName(name, namespace);
      return [{ call, tool, arguments: isFreeform ? wrapFreeform(text) : text }];
    }
    case 'tool-result':
      return [{ result: part.id, text: part.parts.map(textOf).join('\n'), failed: part.isError || undefined }];
    // No upstream of this dialect asks for its thoughts again, and nobody else's are any use to it.
    case 'reasoning':
      return [];
    default:
      return [{ from, text: textOf(part) }];
  }
}

/** What the model would have to see or hear is no small loss: the answer would be to another question. */
function textOf(part: Extract<Part, { readonly kind: 'text' | 'image' | 'file' | 'audio' }>): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'file' && part.source.from === 'text') return textOfFile(part);
  throw notTranslatable('messages', `must not hold this ${part.kind}: the upstream reads nothing but text`);
}
