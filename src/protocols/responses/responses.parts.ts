import {
  notTranslatable,
  sourceOf,
  type AudioPart,
  type CacheMark,
  type FilePart,
  type ImagePart,
  type TranslationWarnings,
  type Part,
  type RefusalPart,
  type Source,
  type TextPart,
  type TreeReader,
} from '../contract/index.js';

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

/** A member that is a string or a list of parts: the content of a message, the output of a tool. */
export function readContent(item: TreeReader, name: string): readonly ContentPart[] {
  const content = item.value(name);
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return item.children(name).map((part) => {
    const type = part.word('type');
    const read = PARTS.get(type);
    if (read === undefined) throw notTranslatable(part.pathOf('type'), `"${type}" is not supported by the upstream`);
    return read(part);
  });
}

/** What can stand in an assistant's message; the rest is lost. */
export function assistantParts(item: TreeReader, losses: TranslationWarnings): readonly Part[] {
  return readContent(item, 'content').filter((part) => {
    const isSaid = part.kind === 'text' || part.kind === 'refusal';
    if (!isSaid) losses.warn('unsupported_content', item.pathOf('content'));
    return isSaid;
  });
}

/** What can stand in a tool's result. */
export function resultParts(item: TreeReader): readonly (TextPart | ImagePart | FilePart)[] {
  return readContent(item, 'output').flatMap((part) => {
    if (part.kind === 'audio') throw notTranslatable(item.pathOf('output'), 'cannot contain audio with this upstream');
    if (part.kind === 'refusal') return [{ kind: 'text', text: part.text }];
    return part.kind === 'text' && part.text === '' ? [] : [part];
  });
}

/** A text that has to be there and may be empty. */
export function textIn(reader: TreeReader, name: string): string {
  const text = reader.string(name);
  if (text === undefined) throw reader.malformed(name, 'is required');
  return text;
}

function readText(part: TreeReader): TextPart {
  return { kind: 'text', text: textIn(part, 'text'), ...cacheOf(part) };
}

function readImage(part: TreeReader): ImagePart {
  refuseFileId(part);
  const detail = part.string('detail');
  // `auto` is what stands there when nothing is meant.
  const meant = detail === undefined || detail === 'auto' ? {} : { detail };
  return { kind: 'image', source: sourceIn(part, 'image_url'), ...meant, ...cacheOf(part) };
}

function readFile(part: TreeReader): FilePart {
  refuseFileId(part);
  const name = part.string('filename');
  const source = part.has('file_data') ? fileData(part) : sourceIn(part, 'file_url');
  return { kind: 'file', source: asText(source), ...(name !== undefined && { name }), ...cacheOf(part) };
}

function readAudio(part: TreeReader): AudioPart {
  const audio = part.requiredChild('input_audio');
  return { kind: 'audio', format: audio.word('format'), base64: audio.word('data') };
}

function refuseFileId(part: TreeReader): void {
  if (!part.has('file_id')) return;
  throw notTranslatable(part.pathOf('file_id'), 'refers to a file that the upstream does not have; send its content');
}

function sourceIn(part: TreeReader, name: string): Source {
  const source = sourceOf(part.word(name));
  if (source === undefined) throw part.malformed(name, 'must be a URL or a base64 data URL');
  return source;
}

/** Clients send a data URL, or the bare base64 of a PDF. */
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
