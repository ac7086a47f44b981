import {
  type AudioPart,
  type CacheMark,
  type ConversationBuilder,
  type FilePart,
  type ImagePart,
  type OpaqueReasoning,
  type ParseContext,
  type Part,
  type RefusalPart,
  type Source,
  sourceOf,
  summaryText,
  type TextPart,
  type ToolCallPart,
  type TranslationWarnings,
  type TreeReader,
  unsupported,
} from '../contract/index.js';
import { BuiltInItems } from './built-in-tools.js';
import { COMPACTION_TRIGGER } from './head.js';

interface Reading {
  readonly conversation: ConversationBuilder;
  readonly context: ParseContext;
}

type ItemReader = (item: TreeReader, reading: Reading) => void;

const ignored: ItemReader = () => undefined;

const ITEMS: ReadonlyMap<string, ItemReader> = new Map<string, ItemReader>([
  ['message', readMessage],
  ['function_call', (item, reading) => readCall(item, 'arguments', reading)],
  ['custom_tool_call', (item, reading) => readCall(item, 'input', reading)],
  ['function_call_output', (item, reading) => readResult(item, false, reading)],
  ['custom_tool_call_output', (item, reading) => readResult(item, true, reading)],
  ['reasoning', readReasoning],
  ['item_reference', rejectReference],
  ['compaction', readCompaction],
  // Read with the request as a whole.
  ['additional_tools', ignored],
  ['configuration_update', ignored],
  [COMPACTION_TRIGGER, ignored],
]);

/** Items of hosted tools: the following text contains their result. */
const HOSTED =
  /^(?:(?:web_search|file_search|code_interpreter|image_generation|mcp)_call|computer_call(?:_output)?|mcp_list_tools|mcp_approval_(?:request|response)|program(?:_output)?)$/;

/** A string or items. */
export function readInput(request: TreeReader, reading: Reading): void {
  const input = request.value('input');
  if (typeof input === 'string') reading.conversation.addTurn('user', [{ kind: 'text', text: input }]);
  else readItems(afterCompaction(request, reading.context), reading);
}

function readItems(items: readonly TreeReader[], reading: Reading): void {
  const builtIn = new BuiltInItems();
  for (const item of items) {
    const part = builtIn.read(item);
    if (part === undefined) readerOf(item)(item, reading);
    else if (part !== null) reading.conversation.addTurn(part.kind === 'tool-call' ? 'assistant' : 'user', [part]);
  }
}

/** Compactions of `/v1/responses/compact` follow the messages of the user; others replace these too. */
export type Replaced = 'all' | 'all but user messages';

/** The items without those that the last readable compaction replaces. Instructions stay. */
export function afterCompaction(request: TreeReader, context: ParseContext): readonly TreeReader[] {
  const items = request.children('input');
  const at = items.findLastIndex((item) => sealedIn(item, context) !== undefined);
  const replaced = items[at] && sealedIn(items[at], context)?.data;
  const kept = (role: unknown): boolean =>
    role === 'system' || role === 'developer' || (role === 'user' && replaced !== ('all' satisfies Replaced));
  return items.filter((item, index) => index >= at || kept(item.value('role')));
}

function sealedIn(item: TreeReader, context: ParseContext): OpaqueReasoning | undefined {
  const sealed = item.value('type') === 'compaction' ? item.value('encrypted_content') : undefined;
  const opaque = typeof sealed === 'string' ? context.unseal(sealed) : undefined;
  return opaque?.kind === 'summary' ? opaque : undefined;
}

export const itemsOf = (request: TreeReader, type: string): readonly TreeReader[] =>
  typeof request.value('input') === 'string'
    ? []
    : request.children('input').filter((item) => item.value('type') === type);

function readerOf(item: TreeReader): ItemReader {
  const type = item.string('type') ?? (item.has('role') ? 'message' : 'item_reference');
  const reader = ITEMS.get(type) ?? (HOSTED.test(type) ? ignored : undefined);
  if (reader === undefined) throw unsupported(item.pathOf('type'), `"${type}" is not supported by the upstream`);
  return reader;
}

function readMessage(item: TreeReader, { conversation, context }: Reading): void {
  switch (item.word('role')) {
    case 'user':
      return conversation.addTurn('user', readContent(item, 'content'));
    case 'assistant':
      return conversation.addTurn('assistant', assistantParts(item, context.warnings));
    case 'system':
    case 'developer':
      return instruct(item, conversation, context);
    default:
      throw item.malformed('role', 'must be user, assistant, system or developer');
  }
}

function instruct(item: TreeReader, conversation: ConversationBuilder, { warnings }: ParseContext): void {
  for (const part of readContent(item, 'content')) {
    if (part.kind === 'text') conversation.addInstruction(part.text, part.cache);
    else warnings.warn('unsupported_content', item.pathOf('content'));
  }
}

function readCall(item: TreeReader, member: 'arguments' | 'input', { conversation }: Reading): void {
  const text = textIn(item, member);
  const namespace = item.string('namespace');
  const call: ToolCallPart = {
    kind: 'tool-call',
    id: item.word('call_id'),
    name: item.word('name'),
    ...(namespace !== undefined && { namespace }),
    ...(member === 'input' ? { arguments: text, isFreeform: true } : { arguments: text.trim() === '' ? '{}' : text }),
  };
  conversation.addTurn('assistant', [call]);
}

function readResult(item: TreeReader, isFreeform: boolean, { conversation }: Reading): void {
  const result = { kind: 'tool-result', id: item.word('call_id'), parts: resultParts(item), isError: false } as const;
  conversation.addTurn('user', [{ ...result, ...(isFreeform && { isFreeform }) }]);
}

/** Only reasoning sealed by this relay has a known origin; other reasoning must not be sent. */
function readReasoning(item: TreeReader, { conversation, context }: Reading): void {
  const sealed = item.string('encrypted_content');
  const opaque = sealed === undefined ? undefined : context.unseal(sealed);
  if (opaque === undefined) return;
  const summary = item.children('summary').map((part) => textIn(part, 'text'));
  conversation.addTurn('assistant', [{ kind: 'reasoning', text: summary.join('\n\n'), opaque }]);
}

function rejectReference(item: TreeReader): never {
  throw unsupported(item.path, 'refers to an item that is not stored; send the item, with store: false');
}

/** As with reasoning, only compactions sealed by this relay can be read. */
function readCompaction(item: TreeReader, { conversation, context }: Reading): void {
  const summary = sealedIn(item, context);
  if (summary === undefined) context.warnings.warn('compaction_unreadable', item.path);
  else conversation.addTurn('user', [{ kind: 'text', text: summaryText(summary.text) }]);
}

type ContentPart = TextPart | ImagePart | FilePart | AudioPart | RefusalPart;
type PartReader = (part: TreeReader) => ContentPart;

const PARTS: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ['input_text', readText],
  ['output_text', readText],
  ['refusal', (part) => ({ kind: 'refusal', text: textIn(part, 'refusal') })],
  ['input_image', readImage],
  ['input_file', readFile],
  ['input_audio', readAudio],
]);

/** A string or a list of parts: message content, tool output. */
function readContent(item: TreeReader, name: string): readonly ContentPart[] {
  const content = item.value(name);
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return item.children(name).map((part) => {
    const type = part.word('type');
    const read = PARTS.get(type);
    if (read === undefined) throw unsupported(part.pathOf('type'), `"${type}" is not supported by the upstream`);
    return read(part);
  });
}

/** Other parts cause warnings. */
function assistantParts(item: TreeReader, warnings: TranslationWarnings): readonly Part[] {
  return readContent(item, 'content').filter((part) => {
    const isSupported = part.kind === 'text' || part.kind === 'refusal';
    if (!isSupported) warnings.warn('unsupported_content', item.pathOf('content'));
    return isSupported;
  });
}

function resultParts(item: TreeReader): readonly (TextPart | ImagePart | FilePart)[] {
  return readContent(item, 'output').flatMap((part) => {
    if (part.kind === 'audio') throw unsupported(item.pathOf('output'), 'cannot contain audio with this upstream');
    if (part.kind === 'refusal') return [{ kind: 'text', text: part.text }];
    return part.kind === 'text' && part.text === '' ? [] : [part];
  });
}

/** A required string that may be empty. */
function textIn(reader: TreeReader, name: string): string {
  const text = reader.string(name);
  if (text === undefined) throw reader.malformed(name, 'is required');
  return text;
}

function readText(part: TreeReader): TextPart {
  return { kind: 'text', text: textIn(part, 'text'), ...cacheOf(part) };
}

function readImage(part: TreeReader): ImagePart {
  rejectFileId(part);
  const detail = part.string('detail');
  // `auto` is the default.
  const meant = detail === undefined || detail === 'auto' ? {} : { detail };
  return { kind: 'image', source: sourceIn(part, 'image_url'), ...meant, ...cacheOf(part) };
}

function readFile(part: TreeReader): FilePart {
  rejectFileId(part);
  const name = part.string('filename');
  const source = part.has('file_data') ? fileData(part) : sourceIn(part, 'file_url');
  return { kind: 'file', source: asText(source), ...(name !== undefined && { name }), ...cacheOf(part) };
}

function readAudio(part: TreeReader): AudioPart {
  const audio = part.requiredChild('input_audio');
  return { kind: 'audio', format: audio.word('format'), base64: audio.word('data') };
}

function rejectFileId(part: TreeReader): void {
  if (!part.has('file_id')) return;
  throw unsupported(part.pathOf('file_id'), 'refers to a file that the upstream does not have; send its content');
}

function sourceIn(part: TreeReader, name: string): Source {
  const source = sourceOf(part.word(name));
  if (source === undefined) throw part.malformed(name, 'must be a URL or a base64 data URL');
  return source;
}

/** Clients send a data URL, or bare base64 of a PDF. */
function fileData(part: TreeReader): Source {
  const data = part.word('file_data');
  return data.startsWith('data:')
    ? sourceIn(part, 'file_data')
    : { from: 'data', mediaType: 'application/pdf', base64: data };
}

const asText = (source: Source): FilePart['source'] =>
  source.from === 'data' && source.mediaType === 'text/plain'
    ? { from: 'text', text: Buffer.from(source.base64, 'base64').toString() }
    : source;

function cacheOf(part: TreeReader): { readonly cache?: CacheMark } {
  const mark = part.child('prompt_cache_breakpoint');
  return mark === undefined ? {} : { cache: { ttl: mark.string('ttl') } };
}
