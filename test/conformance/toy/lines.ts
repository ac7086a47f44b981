import {
  type Part,
  textOfFile,
  type ToolNames,
  type TreeObject,
  type Turn,
  unsupported,
  wrapFreeform,
} from '../../../src/protocols/contract/index.js';

/**
 * `system` here is an instruction in the middle of the conversation. If a vendor takes instructions only at the start,
 * send `reminder(text)` from the user instead: the instruction arrives, so there is no warning.
 *
 * `turns` never has adjacent user or assistant turns. After such changes it may: merge them if the vendor rejects them.
 */
const SENDERS = { system: 'system', user: 'user', assistant: 'model' } as const;

/** Builds the lines from paired turns. @throws AppError invalid_request if a part is not text */
export const buildLines = (turns: readonly Turn[], names: ToolNames): readonly TreeObject[] =>
  turns.flatMap(({ role, parts }) => parts.flatMap((part) => buildLine(part, SENDERS[role], names)));

function buildLine(part: Part, from: string, names: ToolNames): TreeObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [{ from, text: part.text }];
    case 'tool-call': {
      // If a vendor takes only objects: `wrapFreeform(text)` unless `isObjectText(text)`. To send an object in place of
      // its JSON text, use `new RawJson(text)`, which keeps it byte for byte.
      const { id: call, name, namespace, arguments: text, isFreeform = false } = part;
      const tool = names.wireName(name, namespace);
      return [{ call, tool, arguments: isFreeform ? wrapFreeform(text) : text }];
    }
    case 'tool-result':
      // Without a member like `failed`, use `withErrorText(part)`.
      return [{ result: part.id, text: part.parts.map(textOf).join('\n'), failed: part.isError || undefined }];
    // Telegraph has no signed reasoning. A vendor that does gets back parts whose `opaque.family` is `target.family`.
    case 'reasoning':
      return [];
    default:
      return [{ from, text: textOf(part) }];
  }
}

/** Refuses media: without it, the response would answer a different question. */
function textOf(part: Extract<Part, { readonly kind: 'text' | 'image' | 'file' | 'audio' }>): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'file' && part.source.from === 'text') return textOfFile(part);
  throw unsupported('messages', `must not hold this ${part.kind}: the upstream reads nothing but text`);
}
