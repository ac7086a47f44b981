import {
  type AudioPart,
  type FilePart,
  type ImagePart,
  notTranslatable,
  type TextPart,
  textOfFile,
  type TreeObject,
  urlOf,
} from '../contract/index.js';
import type { ChatFlags } from './chat-completions.flags.js';

const DETAILS: readonly (string | undefined)[] = ['auto', 'low', 'high'];

/** A part of what the user says. @throws AppError invalid_request when the upstream cannot take it */
export function buildPart(part: TextPart | ImagePart | FilePart | AudioPart, flags: ChatFlags): TreeObject {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return buildImage(part, flags);
    case 'file':
      return buildFile(part);
    case 'audio':
      if (!flags.audio) throw notTranslatable('input_audio', 'has a format that this upstream does not accept');
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } };
    default:
      return part satisfies never;
  }
}

function buildImage({ source, detail }: ImagePart, { imageUrl }: ChatFlags): TreeObject {
  if (source.from === 'url' && !imageUrl) {
    throw notTranslatable('image_url', 'is a URL, which this upstream does not fetch; send the image data');
  }
  return { type: 'image_url', image_url: { url: urlOf(source), ...(DETAILS.includes(detail) && { detail }) } };
}

function buildFile(part: FilePart): TreeObject {
  const { source, name = 'document.pdf' } = part;
  switch (source.from) {
    case 'text':
      return { type: 'text', text: textOfFile(part) };
    case 'data':
      return { type: 'file', file: { filename: name, file_data: urlOf(source) } };
    case 'url':
      throw notTranslatable('file_url', 'is a URL, which this upstream does not fetch; send the file data');
    default:
      return source satisfies never;
  }
}
