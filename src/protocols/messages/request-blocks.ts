import {
  type CacheMark,
  type FilePart,
  type ImagePart,
  type ParseContext,
  type Part,
  type Source,
  summaryText,
  type TextPart,
  type TreeReader,
  unsupported,
} from '../contract/index.js';

/** Content of both user messages and tool results. */
type VisiblePart = TextPart | ImagePart | FilePart;
type BlockReader<P> = (block: TreeReader, context: ParseContext) => readonly P[];

const SHOWN: ReadonlyMap<string, BlockReader<VisiblePart>> = new Map<string, BlockReader<VisiblePart>>([
  ['text', readText],
  ['image', (block) => [{ kind: 'image', source: readSource(block.requiredChild('source')), cache: cacheOf(block) }]],
  ['document', readDocument],
  ['search_result', readSearchResult],
]);

/** A tool that was found is offered with the request. */
const readToolReference: BlockReader<VisiblePart> = (block) => [
  text(`The tool ${block.word('tool_name')} can be used.`),
];

const IN_RESULT: ReadonlyMap<string, BlockReader<VisiblePart>> = new Map([
  ...SHOWN,
  ['tool_reference', readToolReference],
]);

const FROM_USER: ReadonlyMap<string, BlockReader<Part>> = new Map<string, BlockReader<Part>>([
  ...SHOWN,
  ['tool_result', readResult],
]);

const FROM_ASSISTANT: ReadonlyMap<string, BlockReader<Part>> = new Map<string, BlockReader<Part>>([
  ['text', readText],
  ['tool_use', readCall],
  ['thinking', (block, context) => readThinking(block.string('signature') ?? '', context, block.string('thinking'))],
  ['redacted_thinking', (block, context) => readThinking(block.string('data') ?? '', context)],
  // Read with the message as a whole; without content it has no effect.
  ['compaction', () => []],
  ['image', dropWithWarning],
  ['document', dropWithWarning],
]);

/** Results of hosted tools: the following text contains the response. */
const RUN_BY_VENDOR = /^(?:server_tool_use|mcp_tool_use|\w+_tool_result|container_upload|fallback)$/;

/** The summary that replaces everything before it, and the position of its block; undefined if there is none. */
export function summaryOf(message: TreeReader): { readonly text: string; readonly at: number } | undefined {
  if (!Array.isArray(message.value('content'))) return undefined;
  const blocks = message.children('content');
  const at = blocks.findLastIndex((block) => block.value('type') === 'compaction' && block.has('content'));
  const summary = blocks[at]?.string('content');
  return summary === undefined ? undefined : { text: summaryText(summary), at };
}

/** @param from first block to be read */
export function readContent(message: TreeReader, context: ParseContext, from = 0): readonly Part[] {
  const isUser = message.value('role') === 'user';
  const whole = message.value('content');
  if (typeof whole === 'string') return [text(whole)];
  const blocks = message.children('content').slice(from);
  return blocks.flatMap((block) => {
    if (!isUser && RUN_BY_VENDOR.test(block.word('type'))) return [];
    return readBlock(isUser ? FROM_USER : FROM_ASSISTANT, block, context);
  });
}

export const TOOL_ADDITION = 'tool_addition';

/** A change of the tools that the model can use, in a system message. */
export const isToolChange = (block: TreeReader): boolean =>
  block.value('type') === TOOL_ADDITION || block.value('type') === 'tool_removal';

/** The texts of a system message. */
export function readInstructions(message: TreeReader): readonly TextPart[] {
  const value = message.value('content');
  if (typeof value === 'string') return [text(value)];
  return textsOf(message.children('content').filter((block) => !isToolChange(block)));
}

export function readTexts(fields: TreeReader, name: string): readonly TextPart[] {
  const value = fields.value(name);
  return typeof value === 'string' ? [text(value)] : textsOf(fields.children(name));
}

function textsOf(blocks: readonly TreeReader[]): readonly TextPart[] {
  return blocks.map((block) => {
    if (block.word('type') !== 'text') throw unsupported(block.pathOf('type'), 'must be text');
    return readText(block)[0];
  });
}

export function cacheOf(fields: TreeReader): CacheMark | undefined {
  const mark = fields.child('cache_control');
  return mark === undefined ? undefined : { ttl: mark.string('ttl') };
}

const text = (content: string): TextPart => ({ kind: 'text', text: content });

function readBlock<P>(
  readers: ReadonlyMap<string, BlockReader<P>>,
  block: TreeReader,
  context: ParseContext,
): readonly P[] {
  const type = block.word('type');
  const read = readers.get(type);
  if (read === undefined)
    throw unsupported(block.pathOf('type'), `"${type}" is not supported by the upstream of this model`);
  return read(block, context);
}

function readText(block: TreeReader): readonly [TextPart] {
  return [{ ...text(block.string('text') ?? ''), cache: cacheOf(block) }];
}

function readSource(source: TreeReader): Source {
  const type = source.word('type');
  if (type === 'url') return { from: 'url', url: source.word('url') };
  if (type === 'base64') return { from: 'data', mediaType: source.word('media_type'), base64: source.word('data') };
  throw unsupported(source.pathOf('type'), `"${type}" is stored with another vendor; send the data`);
}

function readDocument(block: TreeReader, context: ParseContext): readonly VisiblePart[] {
  const source = block.requiredChild('source');
  const name = block.string('title');
  const about = block.string('context');
  const before = about === undefined ? [] : [text(about)];
  const cache = cacheOf(block);
  switch (source.word('type')) {
    case 'content':
      return [...(name === undefined ? [] : [text(name)]), ...before, ...readShown(SHOWN, source, context)];
    case 'text':
      return [...before, { kind: 'file', source: { from: 'text', text: source.string('data') ?? '' }, name, cache }];
    default:
      return [...before, { kind: 'file', source: readSource(source), name, cache }];
  }
}

function readSearchResult(block: TreeReader, context: ParseContext): readonly VisiblePart[] {
  const head = `${block.string('title') ?? ''}\n${block.string('source') ?? ''}`.trim();
  return [text(head), ...readShown(SHOWN, block, context)];
}

function readShown(
  readers: ReadonlyMap<string, BlockReader<VisiblePart>>,
  fields: TreeReader,
  context: ParseContext,
): readonly VisiblePart[] {
  const whole = fields.value('content');
  if (typeof whole === 'string') return [text(whole)];
  return fields.children('content').flatMap((block) => readBlock(readers, block, context));
}

function readResult(block: TreeReader, context: ParseContext): readonly Part[] {
  return [
    {
      kind: 'tool-result',
      id: block.word('tool_use_id'),
      parts: readShown(IN_RESULT, block, context).filter((part) => part.kind !== 'text' || part.text !== ''),
      isError: block.boolean('is_error') ?? false,
      cache: cacheOf(block),
    },
  ];
}

function readCall(block: TreeReader): readonly Part[] {
  const input = block.raw('input')?.text ?? '{}';
  const cache = cacheOf(block);
  return [{ kind: 'tool-call', id: block.word('id'), name: block.word('name'), arguments: input, cache }];
}

/** Reasoning not sealed by this relay is another vendor's; no upstream accepts it. */
function readThinking(seal: string, context: ParseContext, content = ''): readonly Part[] {
  const opaque = context.unseal(seal);
  return opaque === undefined ? [] : [{ kind: 'reasoning', text: content, opaque }];
}

/** Not accepted by any upstream. */
function dropWithWarning(block: TreeReader, { warnings }: ParseContext): readonly Part[] {
  warnings.warn('unsupported_content', block.path);
  return [];
}
