import {
  isObjectText,
  newResponseId,
  RawJson,
  writeJson,
  type ResponsePart,
  type CallResult,
  type ReasoningPart,
  type RenderContext,
  type TreeObject,
} from '../contract/index.js';
import { wireEnding, wireMessage, wireUsage } from './messages.wire.js';

/** A whole answer, as JSON text. */
export function renderMessagesResponse({ parts, stop, sequence, usage }: CallResult, context: RenderContext): string {
  const content = parts.flatMap((part) => blockOf(part, context));
  const ending = wireEnding(stop, sequence);
  const { call } = context;
  return writeJson(wireMessage(newResponseId(call, 'msg_'), call.head.model, content, ending, wireUsage(usage)));
}

function blockOf(part: ResponsePart, context: RenderContext): readonly TreeObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, citations: null }];
    case 'reasoning':
      return reasoningOf(part, context);
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: inputOf(part.arguments, context) }];
    default:
      return part satisfies never;
  }
}

function reasoningOf({ text, opaque }: ReasoningPart, context: RenderContext): readonly TreeObject[] {
  const { show } = context.content.reasoning;
  if (show === 'none') return [];
  const signature = opaque === undefined ? '' : context.seal(opaque);
  if (opaque?.kind === 'redacted') return [{ type: 'redacted_thinking', data: signature }];
  const thinking = show === 'text' ? text : '';
  return thinking === '' && signature === '' ? [] : [{ type: 'thinking', thinking, signature }];
}

/** Clients of this dialect get an object, and so an empty one where the model's text is none. */
function inputOf(text: string, { losses }: RenderContext): RawJson {
  if (isObjectText(text)) return new RawJson(text);
  losses.warn('invalid_arguments', 'content');
  return new RawJson('{}');
}
