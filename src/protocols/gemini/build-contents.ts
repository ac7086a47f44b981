import {
  asReminder,
  type AudioPart,
  audioUnsupported,
  type BuildContext,
  INSERTED_USER_TEXT,
  isObjectText,
  malformed,
  mediaCaption,
  mediaOf,
  mediaTypeOf,
  type OpaqueReasoning,
  pairResults,
  type Part,
  prefillUnsupported,
  RawJson,
  type ResultMedia,
  type Source,
  startOfToolLoop,
  textOfFile,
  textOfResult,
  type ToolCallPart,
  type ToolNames,
  type ToolResultPart,
  type TreeObject,
  UNSIGNED_THOUGHT,
  type UpstreamTarget,
  urlUnsupported,
  wrapFreeform,
} from '../contract/index.js';
import type { GeminiFlags } from './flags.js';

export interface GeminiBuild extends BuildContext {
  readonly target: UpstreamTarget;
  readonly flags: GeminiFlags;
  readonly names: ToolNames;
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: TreeObject[];
}

/** @throws AppError invalid_request for unsupported content */
export function buildContents(build: GeminiBuild): readonly TreeObject[] {
  const { content, warnings, flags, target } = build;
  const turns = pairResults(content.turns, warnings);
  const writer = new PartWriter(build);
  const contents: Content[] = [];
  const checkedFrom = flags.thinkingMode === 'level' ? startOfToolLoop(turns) : turns.length;
  for (const [index, { role, parts }] of turns.entries()) {
    if (role === 'system') join(contents, 'user', writer.userParts(parts.map(asReminder)));
    else if (role === 'user') join(contents, 'user', writer.userParts(parts));
    else join(contents, 'model', writer.modelParts(parts, placeSignatures(parts, target.family, index >= checkedFrom)));
  }
  const [first] = contents;
  if (first === undefined) throw malformed('messages', 'must contain user content');
  if (contents.at(-1)?.role === 'model' && !flags.takesPrefill) {
    throw prefillUnsupported();
  }
  if (first.role === 'user') return contents.map(asTree);
  warnings.warn('user_message_inserted', 'messages');
  return [{ role: 'user', parts: [{ text: INSERTED_USER_TEXT }] }, ...contents.map(asTree)];
}

const asTree = ({ role, parts }: Content): TreeObject => ({ role, parts });

/** Adds a content or merges it into the previous one of the same role. */
function join(contents: Content[], role: Content['role'], parts: readonly TreeObject[]): void {
  const last = contents.at(-1);
  if (parts.length === 0) return;
  if (last?.role !== role) contents.push({ role, parts: [...parts] });
  // Too many for spread arguments.
  else for (const part of parts) last.parts.push(part);
}

/** Writes parts turn by turn. */
class PartWriter {
  /** Called functions by call ID. */
  private readonly called = new Map<string, string>();

  constructor(private readonly build: GeminiBuild) {}

  /** User parts: results first, then what results cannot contain. */
  userParts(parts: readonly Part[]): readonly TreeObject[] {
    const results = parts.filter((part) => part.kind === 'tool-result');
    return [
      ...results.map((result) => this.result(result)),
      ...results.flatMap((result) => this.attachments(result)),
      ...parts.flatMap((part) => this.userPart(part)),
    ];
  }

  /** @param signatures of the turn's parts */
  modelParts(parts: readonly Part[], signatures: ReadonlyMap<Part, string>): readonly TreeObject[] {
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
        return [this.audio(part)];
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
        // Images in model turns are dropped.
        this.build.warnings.warn('unsupported_content', 'messages');
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
    // Only objects are allowed: other arguments are wrapped.
    const args = new RawJson(isFreeform !== true && isObjectText(text) ? text : wrapFreeform(text));
    return { id, name: wireName, args };
  }

  private result(result: ToolResultPart): TreeObject {
    const media = mediaOf(result).filter((item) => this.isInline(item));
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
    return mediaOf(result).flatMap((item) =>
      this.isInline(item) ? [] : [{ text: mediaCaption(item, result.id) }, this.media(item.source, item.kind)],
    );
  }

  /** Results cannot contain URLs. */
  private isInline({ source }: ResultMedia): boolean {
    return this.build.flags.takesMediaInResults && source.from === 'data';
  }

  private media(source: Source, kind: ResultMedia['kind']): TreeObject {
    if (source.from === 'data') return { inlineData: { mimeType: source.mediaType, data: source.base64 } };
    if (!this.build.flags.takesUrls) {
      throw urlUnsupported(kind);
    }
    return { fileData: { mimeType: mediaTypeOf(source.url), fileUri: source.url } };
  }

  private audio({ format, base64 }: AudioPart): TreeObject {
    if (!this.build.flags.takesAudio) throw audioUnsupported();
    return { inlineData: { mimeType: `audio/${format}`, data: base64 } };
  }
}

/** A reserved name in responses, which would make the request invalid. */
const REFERENCE = '"$ref"';

/** An object result is sent as is; others under the vendor's documented names. */
function responseOf(result: ToolResultPart, emptyResult: string): RawJson | TreeObject {
  const text = textOfResult(result);
  if (result.isError) return { error: text };
  if (isObjectText(text) && !text.includes(REFERENCE)) return new RawJson(text);
  return { output: text === '' ? emptyResult : text };
}

// Models sign reasoning; the signature is on the first function call, or on the last part without calls. It must be
// sent back on the same part. https://ai.google.dev/gemini-api/docs/thought-signatures

export const signedBy = (family: string, signature: string): OpaqueReasoning => ({
  kind: 'encrypted',
  family,
  data: signature,
  text: '',
});

/**
 * Assigns signatures to the following call of a turn, or without one to the reasoning itself, sent as an empty text.
 * @param demands every first call must be signed; unsigned ones get the placeholder
 */
export function placeSignatures(parts: readonly Part[], family: string, demands: boolean): ReadonlyMap<Part, string> {
  const placed = new Map<Part, string>();
  let waiting: { readonly part: Part; readonly signature: string } | undefined;
  for (const part of parts) {
    const signature = signatureOf(part, family);
    if (signature !== undefined) {
      if (waiting !== undefined) placed.set(waiting.part, waiting.signature);
      waiting = { part, signature };
    } else if (part.kind === 'tool-call' && waiting !== undefined) {
      placed.set(part, waiting.signature);
      waiting = undefined;
    }
  }
  if (waiting !== undefined) placed.set(waiting.part, waiting.signature);
  const first = parts.find((part): part is ToolCallPart => part.kind === 'tool-call');
  if (demands && first !== undefined && !placed.has(first)) placed.set(first, UNSIGNED_THOUGHT);
  return placed;
}

/** Only signatures of the same family. */
function signatureOf(part: Part, family: string): string | undefined {
  if (part.kind !== 'reasoning' || part.opaque?.kind !== 'encrypted' || part.opaque.family !== family) return undefined;
  return part.opaque.data;
}
