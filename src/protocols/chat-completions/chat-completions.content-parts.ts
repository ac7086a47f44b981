import {
  type AudioPart,
  type FilePart,
  type ImagePart,
  notTranslatable,
  type RefusalPart,
  sourceOf,
  type TextPart,
  type TreeReader,
} from '../contract/index.js';

/** What a message's `content` may hold. */
type ContentPart = TextPart | ImagePart | AudioPart | FilePart | RefusalPart;

/** By the `type` of a part. */
const READERS = new Map<string, (part: TreeReader) => ContentPart>([
  ['text', (part) => ({ kind: 'text', text: part.string('text') ?? '' })],
  ['refusal', (part) => ({ kind: 'refusal', text: part.string('refusal') ?? '' })],
  ['image_url', (part) => readImage(part.requiredChild('image_url'))],
  ['input_audio', (part) => readAudio(part.requiredChild('input_audio'))],
  ['file', (part) => readFile(part.requiredChild('file'))],
]);

/**
 * The parts of a message: none where the content is null.
 * @param kinds what may stand in a message of its role, beside text
 */
export function readContent<Kind extends ContentPart['kind']>(
  message: TreeReader,
  ...kinds: readonly Kind[]
): readonly (TextPart | Extract<ContentPart, { kind: Kind }>)[] {
  const content = message.value('content');
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  const isAllowed = (part: ContentPart): part is TextPart | Extract<ContentPart, { kind: Kind }> =>
    part.kind === 'text' || (kinds as readonly string[]).includes(part.kind);
  return message.children('content').map((part) => {
    const read = READERS.get(part.word('type'))?.(part);
    if (read !== undefined && isAllowed(read)) return read;
    throw part.malformed('type', 'is not allowed in a message of this role');
  });
}

function readImage(image: TreeReader): ImagePart {
  const source = sourceOf(image.word('url'));
  if (source === undefined) throw image.malformed('url', 'must be an http(s) URL or a base64 data URL');
  return { kind: 'image', source, detail: image.string('detail') };
}

const readAudio = (audio: TreeReader): AudioPart => ({
  kind: 'audio',
  format: audio.word('format'),
  base64: audio.word('data'),
});

function readFile(file: TreeReader): FilePart {
  if (file.has('file_id')) throw notTranslatable(file.pathOf('file_id'), 'refers to a file stored with another vendor');
  const data = file.word('file_data');
  // The bare base64 that some clients send says nothing of what it is; only one kind of document is customary.
  const source = sourceOf(data) ?? { from: 'data', mediaType: 'application/pdf', base64: data };
  return { kind: 'file', source, name: file.string('filename') };
}
