import {
  isObjectText,
  notTranslatable,
  RawJson,
  textOfFile,
  wrapFreeform,
  type AudioPart,
  type Part,
  type Source,
  type ToolCallPart,
  type ToolResultPart,
  type TreeObject,
} from '../contract/index.js';
import type { RequestBuild } from './gemini.build-context.js';
import { typeOfAddress } from './gemini.media-types.js';

type MediaKind = 'image' | 'file';

interface Media {
  readonly kind: MediaKind;
  readonly source: Source;
}

/** Writes the parts of a conversation, one turn after the other. */
export class PartWriter {
  /** The functions that were called, by the ids of the calls. */
  private readonly called = new Map<string, string>();

  constructor(private readonly build: RequestBuild) {}

  /** What the user says: the results of calls first, with what they cannot hold themselves behind all of them. */
  said(parts: readonly Part[]): readonly TreeObject[] {
    const results = parts.filter((part) => part.kind === 'tool-result');
    return [
      ...results.map((result) => this.result(result)),
      ...results.flatMap((result) => this.attachments(result)),
      ...parts.flatMap((part) => this.userPart(part)),
    ];
  }

  /** What the model has said. @param signatures of the turn's parts */
  answered(parts: readonly Part[], signatures: ReadonlyMap<Part, string>): readonly TreeObject[] {
    return parts.flatMap((part) => this.modelPart(part, signatures.get(part)));
  }

  private userPart(part: Part): readonly TreeObject[] {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return part.text === '' ? [] : [{ text: part.text }];
      case 'image':
        return [this.media(part.source, 'image')];
      case 'file':
        return [part.source.from === 'text' ? { text: textOfFile(part) } : this.media(part.source, 'file')];
      case 'audio':
        return [this.heard(part)];
      case 'reasoning':
      case 'tool-call':
      case 'tool-result':
        return [];
      default:
        return part satisfies never;
    }
  }

  private modelPart(part: Part, thoughtSignature: string | undefined): readonly TreeObject[] {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return part.text === '' ? [] : [{ text: part.text }];
      case 'tool-call':
        return [{ functionCall: this.call(part), thoughtSignature }];
      case 'reasoning':
        return thoughtSignature === undefined ? [] : [{ text: '', thoughtSignature }];
      case 'image':
      case 'file':
      case 'audio':
        // What a model has shown is not taken back.
        this.build.losses.warn('unsupported_content', 'messages');
        return [];
      case 'tool-result':
        return [];
      default:
        return part satisfies never;
    }
  }

  private call({ id, name, namespace, arguments: text, isFreeform }: ToolCallPart): TreeObject {
    const wireName = this.build.names.wireName(name, namespace);
    this.called.set(id, wireName);
    // The dialect takes nothing but objects: what a model of another one wrote wrongly stands in one.
    const args = new RawJson(isFreeform !== true && isObjectText(text) ? text : wrapFreeform(text));
    return { id, name: wireName, args };
  }

  private result(result: ToolResultPart): TreeObject {
    const media = mediaOf(result).filter((shown) => this.isHeld(shown));
    return {
      functionResponse: {
        id: result.id,
        name: this.called.get(result.id),
        response: responseOf(result, this.build.flags.emptyResult),
        ...(media.length > 0 && { parts: media.map(({ source, kind }) => this.media(source, kind)) }),
      },
    };
  }

  private attachments(result: ToolResultPart): readonly TreeObject[] {
    return mediaOf(result).flatMap((shown) =>
      this.isHeld(shown)
        ? []
        : [
            { text: `${shown.kind === 'image' ? 'Image' : 'File'} returned by tool call ${result.id}:` },
            this.media(shown.source, shown.kind),
          ],
    );
  }

  /** Results have no place for what lies at an address. */
  private isHeld({ source }: Media): boolean {
    return this.build.flags.takesMediaInResults && source.from === 'data';
  }

  private media(source: Source, kind: MediaKind): TreeObject {
    if (source.from === 'data') return { inlineData: { mimeType: source.mediaType, data: source.base64 } };
    if (!this.build.flags.takesUrls) {
      throw notTranslatable('messages', `hold an address (of the ${kind}); send the ${kind} itself`);
    }
    return { fileData: { mimeType: typeOfAddress(source.url), fileUri: source.url } };
  }

  private heard({ format, base64 }: AudioPart): TreeObject {
    if (!this.build.flags.takesAudio)
      throw notTranslatable('messages', 'contain audio, which this model does not accept');
    return { inlineData: { mimeType: `audio/${format}`, data: base64 } };
  }
}

/** What of a result is no text. */
const mediaOf = ({ parts }: ToolResultPart): readonly Media[] =>
  parts.flatMap((part) =>
    part.kind === 'text' || part.source.from === 'text' ? [] : [{ kind: part.kind, source: part.source }],
  );

/** In a response this name leads to one of its parts, and nowhere else: a schema that has it would be refused. */
const REFERENCE = '"$ref"';

/** A result that is an object stands as it is; anything else in one, under the names that the vendor documents. */
function responseOf({ parts, isError }: ToolResultPart, emptyResult: string): RawJson | TreeObject {
  const texts = parts.flatMap((part) => {
    if (part.kind === 'text') return [part.text];
    return part.kind === 'file' && part.source.from === 'text' ? [textOfFile(part)] : [];
  });
  const text = texts.join('\n');
  if (isError) return { error: text };
  if (isObjectText(text) && !text.includes(REFERENCE)) return new RawJson(text);
  return { output: text === '' ? emptyResult : text };
}
