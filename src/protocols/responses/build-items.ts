import {
  type AudioPart,
  conforming,
  type FilePart,
  type ImagePart,
  type JsonTree,
  type NameRule,
  type Part,
  type ReasoningPart,
  textOfFile,
  type TextPart,
  type ToolCallPart,
  type ToolNames,
  type ToolResultPart,
  type TreeObject,
  type Turn,
  unsupported,
  urlOf,
  withErrorText,
} from '../contract/index.js';
import type { ResponsesFlags } from './flags.js';

/** For tool names and call IDs. */
export const NAME_RULE: NameRule = { maxLength: 64, invalid: /[^a-zA-Z0-9_-]/g };

export interface ItemContext {
  /** Sources of reasoning that the upstream accepts. */
  readonly family: string;
  readonly flags: ResponsesFlags;
  readonly names: ToolNames;
}

/** A turn as input items: content between calls, results and reasoning forms messages. */
export function* itemsOfTurn({ role, parts }: Turn, context: ItemContext): Generator<TreeObject> {
  let content: TreeObject[] = [];
  for (const part of parts) {
    const item = itemOf(part, context);
    if (item === undefined) {
      content.push(...contentOf(part, role, context));
      continue;
    }
    yield* messageOf(role, content, context);
    content = [];
    yield item;
  }
  yield* messageOf(role, content, context);
}

/** Undefined for message content and dropped parts. */
function itemOf(part: Part, context: ItemContext): TreeObject | undefined {
  switch (part.kind) {
    case 'tool-call':
      return callOf(part, context);
    case 'tool-result':
      return resultOf(part, context);
    case 'reasoning':
      return reasoningOf(part, context);
    default:
      return undefined;
  }
}

function* messageOf(role: Turn['role'], content: readonly TreeObject[], { flags }: ItemContext): Generator<TreeObject> {
  if (content.length === 0) return;
  yield { type: 'message', role: role === 'system' ? flags.instructor : role, content };
}

function callOf(call: ToolCallPart, { names }: ItemContext): TreeObject {
  const named = { call_id: conforming(call.id, NAME_RULE), namespace: call.namespace, name: names.wireName(call.name) };
  return call.isFreeform === true
    ? { type: 'custom_tool_call', ...named, input: call.arguments }
    : { type: 'function_call', ...named, arguments: call.arguments };
}

function resultOf(result: ToolResultPart, { flags }: ItemContext): TreeObject {
  const type = result.isFreeform === true ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: conforming(result.id, NAME_RULE), output: outputOf(withErrorText(result), flags) };
}

/** A string if there is only text: not every server accepts lists. */
function outputOf(parts: ToolResultPart['parts'], flags: ResponsesFlags): JsonTree {
  if (parts.some(({ kind }) => kind !== 'text')) return parts.map((part) => inputOf(part, flags));
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n');
  return text === '' ? flags.emptyResult : text;
}

/** Only reasoning of the same family. */
function reasoningOf({ text, opaque }: ReasoningPart, { family }: ItemContext): TreeObject | undefined {
  if (opaque?.kind !== 'encrypted' || opaque.family !== family) return undefined;
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return { type: 'reasoning', id: opaque.id, summary, encrypted_content: opaque.data };
}

function contentOf(part: Part, role: Turn['role'], { flags }: ItemContext): readonly TreeObject[] {
  if (part.kind === 'refusal') return [{ type: 'refusal', refusal: part.text }];
  if (part.kind === 'text' && role === 'assistant') return [{ type: 'output_text', text: part.text, annotations: [] }];
  if (part.kind === 'tool-call' || part.kind === 'tool-result' || part.kind === 'reasoning') return [];
  return [inputOf(part, flags)];
}

function inputOf(part: TextPart | ImagePart | FilePart | AudioPart, flags: ResponsesFlags): TreeObject {
  switch (part.kind) {
    case 'text':
      return textOf(part.text);
    case 'image':
      return imageOf(part, flags);
    case 'file':
      return fileOf(part);
    case 'audio':
      if (!flags.takesAudio) throw unsupported('input_audio', 'is not accepted by this upstream');
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } };
    default:
      return part satisfies never;
  }
}

const textOf = (text: string): TreeObject => ({ type: 'input_text', text });

function imageOf({ source, detail }: ImagePart, flags: ResponsesFlags): TreeObject {
  if (source.from === 'url' && !flags.takesImageUrls) {
    throw unsupported('image_url', 'is a URL, which this upstream does not fetch; send the image data');
  }
  return { type: 'input_image', image_url: urlOf(source), detail: detail ?? 'auto' };
}

function fileOf(part: FilePart): TreeObject {
  const { source, name } = part;
  switch (source.from) {
    case 'text':
      return textOf(textOfFile(part));
    case 'url':
      return { type: 'input_file', file_url: source.url };
    case 'data':
      return { type: 'input_file', filename: name ?? 'document.pdf', file_data: urlOf(source) };
    default:
      return source satisfies never;
  }
}
