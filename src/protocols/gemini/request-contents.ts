import {
  ConversationBuilder,
  type ImagePart,
  type FilePart,
  type ParseContext,
  type Part,
  type RawJson,
  sourceOf,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  type TreeReader,
  unsupported,
} from '../contract/index.js';
import { sealIn } from './wire.js';

/** @throws AppError invalid_request naming the member */
export function readConversation(request: TreeReader, context: ParseContext): ConversationBuilder {
  const conversation = new ConversationBuilder();
  const system = request.child('systemInstruction');
  for (const part of system?.children('parts') ?? []) conversation.addInstruction(part.string('text') ?? '');
  const reader = new ContentReader(context);
  for (const content of request.children('contents')) {
    const role = roleOf(content);
    conversation.addTurn(role, reader.parts(content, role));
  }
  return conversation;
}

function roleOf(content: TreeReader): 'user' | 'assistant' {
  switch (content.string('role') ?? 'user') {
    case 'model':
      return 'assistant';
    case 'user':
    case 'function':
    case 'tool':
      return 'user';
    default:
      throw content.malformed('role', 'must be "user" or "model"');
  }
}

/** Reads contents in order, so that results find their calls: IDs are optional. */
class ContentReader {
  /** Calls without a result. */
  private readonly open: { readonly id: string; readonly name: string }[] = [];
  private calls = 0;

  constructor(private readonly context: ParseContext) {}

  parts(content: TreeReader, role: 'user' | 'assistant'): readonly Part[] {
    const parts = content.children('parts');
    return role === 'assistant' ? this.modelParts(parts) : parts.flatMap((part) => this.userPart(part));
  }

  /** Reasoning belongs to the signature that follows it; unsigned reasoning is not accepted by any upstream. */
  private modelParts(parts: readonly TreeReader[]): readonly Part[] {
    let thoughts = '';
    return parts.flatMap((part): Part[] => {
      const isThought = part.boolean('thought') === true;
      if (isThought) thoughts += part.string('text') ?? '';
      const signature = part.string('thoughtSignature') ?? '';
      const opaque = signature === '' ? undefined : this.context.unseal(sealIn(signature));
      const text = thoughts;
      if (signature !== '' || !isThought) thoughts = '';
      return [
        ...(opaque === undefined ? [] : [{ kind: 'reasoning', text, opaque } as const]),
        ...(isThought ? [] : this.modelPart(part)),
      ];
    });
  }

  private modelPart(part: TreeReader): readonly Part[] {
    const call = part.child('functionCall');
    if (call !== undefined) return [this.call(call)];
    const text = part.string('text');
    if (text !== undefined) return [{ kind: 'text', text }];
    this.drop(part);
    return [];
  }

  private userPart(part: TreeReader): readonly Part[] {
    const result = part.child('functionResponse');
    if (result !== undefined) return [this.result(result)];
    const text = part.string('text');
    if (text !== undefined) return [{ kind: 'text', text }];
    const media = readMedia(part);
    if (media === undefined) this.drop(part);
    return media === undefined ? [] : [media];
  }

  /** Content of the vendor's own tools. */
  private drop(part: TreeReader): void {
    if (part.names.some((name) => part.has(name) && name !== 'thoughtSignature'))
      this.context.warnings.warn('unsupported_content', part.path);
  }

  private call(call: TreeReader): ToolCallPart {
    this.calls += 1;
    const name = call.word('name');
    const id = call.string('id') || `call_${this.calls}`;
    this.open.push({ id, name });
    return { kind: 'tool-call', id, name, arguments: call.raw('args')?.text ?? '{}' };
  }

  private result(result: TreeReader): ToolResultPart {
    const name = result.string('name') ?? '';
    const given = result.string('id') || undefined;
    const at = this.open.findIndex((call) => (given === undefined ? call.name === name : call.id === given));
    const [call] = at < 0 ? [] : this.open.splice(at, 1);
    const id = given ?? call?.id ?? name;
    if (id === '') throw result.malformed('name', 'is required');
    const { text, isError } = outputOf(result.raw('response'));
    const media = result.children('parts').flatMap((part): (ImagePart | FilePart)[] => {
      const read = readMedia(part);
      if (read?.kind === 'audio') throw unsupported(part.path, 'is audio, which results cannot contain');
      return read === undefined ? [] : [read];
    });
    const said: TextPart[] = text === '' ? [] : [{ kind: 'text', text }];
    return { kind: 'tool-result', id, parts: [...said, ...media], isError };
  }
}

/** The vendor's documented names; any other object is the output itself. */
function outputOf(response: RawJson | undefined): { readonly text: string; readonly isError: boolean } {
  const [[name, value] = ['', undefined], ...others] = Object.entries(response?.value ?? {});
  if (response === undefined || name === '') return { text: '', isError: false };
  if (typeof value !== 'string' || others.length > 0) return { text: response.text, isError: name === 'error' };
  if (name === 'output' || name === 'error') return { text: value, isError: name === 'error' };
  return { text: response.text, isError: false };
}

type Media = Exclude<Part, { kind: 'text' | 'refusal' | 'reasoning' | 'tool-call' | 'tool-result' }>;

/** Undefined if the part has neither inline data nor a file. */
function readMedia(part: TreeReader): Media | undefined {
  const inline = part.child('inlineData');
  if (inline !== undefined) return readInline(inline);
  const file = part.child('fileData');
  return file && readFile(file);
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = { mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav' };

function readInline(inline: TreeReader): Media {
  const mediaType = inline.word('mimeType').toLowerCase();
  const base64 = standardBase64(inline.word('data'));
  const [kind, subtype = ''] = mediaType.split(/[/;]/);
  const name = inline.string('displayName');
  switch (kind) {
    case 'image':
      return { kind: 'image', source: { from: 'data', mediaType, base64 } };
    case 'audio':
      return { kind: 'audio', format: AUDIO_FORMATS[subtype] ?? subtype, base64 };
    case 'text':
      return { kind: 'file', source: { from: 'text', text: Buffer.from(base64, 'base64').toString('utf8') }, name };
    case 'application':
      return { kind: 'file', source: { from: 'data', mediaType, base64 }, name };
    default:
      throw unsupported(inline.pathOf('mimeType'), `"${mediaType}" is not supported by this upstream`);
  }
}

/** Google also accepts the alphabet of URLs. */
const standardBase64 = (data: string): string => data.replaceAll('-', '+').replaceAll('_', '/');

const STORED = /^https?:\/\/[^/]*\bgoogleapis\.com\b/i;

function readFile(file: TreeReader): Media {
  const uri = file.word('fileUri');
  const source = sourceOf(uri);
  if (source === undefined || STORED.test(uri))
    throw unsupported(file.pathOf('fileUri'), 'is stored with another vendor; send the data');
  const mediaType = file.string('mimeType')?.toLowerCase() ?? '';
  if (mediaType.startsWith('image/')) return { kind: 'image', source };
  if (/^(?:video|audio)\//.test(mediaType))
    throw unsupported(file.pathOf('mimeType'), `"${mediaType}" is not supported by this upstream`);
  return { kind: 'file', source, name: file.string('displayName') };
}
