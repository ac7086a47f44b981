import {
  isObjectText,
  notTranslatable,
  RawJson,
  wrapFreeform,
  type FilePart,
  type ImagePart,
  type Part,
  type ReasoningPart,
  type ToolCallPart,
  type ToolResultPart,
  type TreeObject,
  type Turn,
} from '../contract/index.js';
import type { RequestBuild } from './messages.build-context.js';
import { ToolIds } from './messages.tool-ids.js';

const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** Texts without words are refused. */
const hasText = (text: string): boolean => text.trim() !== '';

/** Whether the part is a thought that this model has to get back. */
export const isReplayable = (part: Part, family: string): part is ReasoningPart =>
  part.kind === 'reasoning' &&
  part.opaque?.family === family &&
  (part.opaque.kind === 'signature' || part.opaque.kind === 'redacted');

/** Writes the parts of a conversation as blocks, one after the other. */
export class BlockWriter {
  private readonly ids = new ToolIds();

  constructor(private readonly build: RequestBuild) {}

  writeAll(parts: readonly Part[], role: Turn['role']): readonly TreeObject[] {
    return parts.flatMap((part) => this.write(part, role));
  }

  /** The part's block; none when there is nothing to say, or nobody to take it. */
  private write(part: Part, role: Turn['role']): readonly TreeObject[] {
    switch (part.kind) {
      case 'text':
        return hasText(part.text) ? [{ type: 'text', text: part.text, ...this.build.marks.on(part) }] : [];
      case 'refusal':
        return hasText(part.text) ? [{ type: 'text', text: part.text }] : [];
      case 'image':
      case 'file':
        return role === 'assistant' ? this.drop() : [this.shown(part)];
      case 'audio':
        throw notTranslatable('messages', 'contain audio, which this model does not accept');
      case 'reasoning':
        return isReplayable(part, this.build.target.family) ? [reasoningBlock(part)] : [];
      case 'tool-call':
        return [this.call(part)];
      case 'tool-result':
        return [this.result(part)];
      default:
        return part satisfies never;
    }
  }

  /** What a model has shown is not taken back. */
  private drop(): readonly TreeObject[] {
    this.build.losses.warn('unsupported_content', 'messages');
    return [];
  }

  private shown(part: ImagePart | FilePart): TreeObject {
    const mark = this.build.marks.on(part);
    if (part.kind === 'image') return { type: 'image', source: this.imageSource(part), ...mark };
    return { type: 'document', source: documentSource(part), title: part.name, ...mark };
  }

  private imageSource({ source }: ImagePart): TreeObject {
    if (source.from === 'url') {
      if (!this.build.flags.takesImageUrls)
        throw notTranslatable('messages', 'contain an image URL; send the image data');
      return { type: 'url', url: source.url };
    }
    if (!IMAGE_TYPES.includes(source.mediaType)) {
      throw notTranslatable(
        'messages',
        `hold an image of the type ${source.mediaType}; send ${IMAGE_TYPES.join(', ')}`,
      );
    }
    return { type: 'base64', media_type: source.mediaType, data: source.base64 };
  }

  private call(part: ToolCallPart): TreeObject {
    return {
      type: 'tool_use',
      id: this.ids.ofCall(part.id),
      name: this.build.names.wireName(part.name, part.namespace),
      input: inputOf(part),
      ...this.build.marks.on(part),
    };
  }

  private result(part: ToolResultPart): TreeObject {
    const blocks = this.writeAll(part.parts, 'user');
    const empty = this.build.flags.emptyResult === '' ? [] : [{ type: 'text', text: this.build.flags.emptyResult }];
    const content = blocks.length > 0 ? blocks : empty;
    return {
      type: 'tool_result',
      tool_use_id: this.ids.ofResult(part.id),
      content: content.length > 0 ? content : undefined,
      is_error: part.isError ? true : undefined,
      ...this.build.marks.on(part),
    };
  }
}

function reasoningBlock({ opaque }: ReasoningPart): TreeObject {
  if (opaque?.kind === 'redacted') return { type: 'redacted_thinking', data: opaque.data };
  return { type: 'thinking', thinking: opaque?.text, signature: opaque?.data };
}

function documentSource({ source }: FilePart): TreeObject {
  if (source.from === 'url') return { type: 'url', url: source.url };
  if (source.from === 'text') return plainText(source.text);
  const { mediaType, base64 } = source;
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: base64 };
  if (mediaType.startsWith('text/')) return plainText(Buffer.from(base64, 'base64').toString());
  throw notTranslatable('messages', `hold a file of the type ${mediaType}; send PDF or plain text`);
}

const plainText = (data: string): TreeObject => ({ type: 'text', media_type: 'text/plain', data });

/** The dialect takes nothing but objects: what a model of another one wrote wrongly stands in one. */
function inputOf({ arguments: text, isFreeform }: ToolCallPart): RawJson {
  return new RawJson(isFreeform !== true && isObjectText(text) ? text : wrapFreeform(text));
}
