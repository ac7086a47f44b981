import {
  type AudioPart,
  type CallContent,
  type FilePart,
  type ImagePart,
  type JsonTree,
  type Part,
  reminder,
  textOfFile,
  type TextPart,
  type ToolCallPart,
  type ToolNames,
  type ToolResultPart,
  type TranslationWarnings,
  type TreeObject,
  type Turn,
  unsupported,
  urlOf,
  withErrorText,
  wrapFreeform,
} from '../contract/index.js';
import type { ChatFlags } from './flags.js';

interface MessageContext {
  readonly flags: ChatFlags;
  readonly names: ToolNames;
  readonly warnings: TranslationWarnings;
  /** Sources of reasoning that the upstream accepts. */
  readonly family: string;
}

export function buildMessages({ lead, turns }: CallContent, context: MessageContext): readonly TreeObject[] {
  if (turns.at(-1)?.role === 'assistant') context.warnings.warn('prefill', 'messages');
  const writer = new MessageWriter(context);
  writer.lead(lead);
  for (const turn of turns) writer.turn(turn);
  return writer.end();
}

class MessageWriter {
  private readonly messages: TreeObject[] = [];
  /** Pending user content: consecutive user messages are merged. */
  private userContent: TreeObject[] = [];
  private readonly instructor: 'developer' | 'system';

  constructor(private readonly context: MessageContext) {
    this.instructor = context.flags.developerRole ? 'developer' : 'system';
  }

  /** One message in front: templates of many models allow only that. */
  lead(texts: readonly TextPart[]): void {
    if (texts.length === 0) return;
    this.messages.push({ role: this.instructor, content: texts.map(({ text }) => text).join('\n\n') });
  }

  turn({ role, parts }: Turn): void {
    switch (role) {
      case 'system':
        this.addInstruction(parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n'));
        return;
      case 'user':
        this.user(parts);
        return;
      case 'assistant':
        this.assistant(parts);
        return;
      default:
        role satisfies never;
    }
  }

  end(): readonly TreeObject[] {
    this.flush();
    return this.messages;
  }

  private addInstruction(text: string): void {
    if (!this.context.flags.midSystem) {
      this.userContent.push({ type: 'text', text: reminder(text) });
      return;
    }
    this.flush();
    this.messages.push({ role: this.instructor, content: text });
  }

  /** Results must directly follow their calls. */
  private user(parts: readonly Part[]): void {
    const results = parts.filter((part) => part.kind === 'tool-result');
    for (const result of results) this.messages.push(this.toolMessage(result));
    // Too many for spread arguments.
    for (const result of results) for (const part of this.attachments(result)) this.userContent.push(part);
    for (const part of parts) if (isContent(part)) this.userContent.push(buildPart(part, this.context.flags));
  }

  private toolMessage(result: ToolResultPart): TreeObject {
    const { flags } = this.context;
    const texts = withErrorText(result).flatMap((part) => {
      if (part.kind === 'text') return [part.text];
      return part.kind === 'file' && part.source.from === 'text' ? [textOfFile(part)] : [];
    });
    return { role: 'tool', tool_call_id: flags.toolId(result.id), content: texts.join('\n') || flags.emptyToolResult };
  }

  /** Content that tool messages do not support follows as user content. */
  private attachments({ id, parts }: ToolResultPart): readonly TreeObject[] {
    return parts.flatMap((part): TreeObject[] => {
      if (part.kind === 'text' || (part.kind === 'file' && part.source.from === 'text')) return [];
      const noun = part.kind === 'image' ? 'Image' : 'File';
      const note = { type: 'text', text: `${noun} returned by tool call ${this.context.flags.toolId(id)}:` };
      return [note, buildPart(part, this.context.flags)];
    });
  }

  private assistant(parts: readonly Part[]): void {
    const calls = parts.filter((part) => part.kind === 'tool-call').map((call) => this.call(call));
    const texts = parts.filter((part) => part.kind === 'text');
    const refusal = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : [])).join('\n');
    if (parts.some(({ kind }) => kind === 'image' || kind === 'file' || kind === 'audio')) {
      this.context.warnings.warn('unsupported_content', 'messages');
    }
    if (calls.length === 0 && texts.length === 0 && refusal === '') return;
    this.flush();
    this.messages.push({
      role: 'assistant',
      content: texts.length === 0 ? null : contentOf(texts.map(({ text }) => ({ type: 'text', text }))),
      ...(refusal !== '' && { refusal }),
      ...(calls.length > 0 && { ...this.replayedReasoning(parts), tool_calls: calls }),
    });
  }

  /** Some servers reject calls without their reasoning. */
  private replayedReasoning(parts: readonly Part[]): TreeObject {
    const { flags, family } = this.context;
    if (flags.replayedReasoning === undefined) return {};
    const texts = parts.flatMap((part) => {
      const opaque = part.kind === 'reasoning' ? part.opaque : undefined;
      return opaque?.kind === 'text' && opaque.family === family ? [opaque.text] : [];
    });
    return texts.length === 0 ? {} : { [flags.replayedReasoning]: texts.join('') };
  }

  private call({ id: originalId, name, namespace, arguments: text, isFreeform = false }: ToolCallPart): TreeObject {
    const { flags, names } = this.context;
    const id = flags.toolId(originalId);
    const wireName = names.wireName(name, namespace);
    if (isFreeform && flags.customTools) return { id, type: 'custom', custom: { name: wireName, input: text } };
    const written = isFreeform ? wrapFreeform(text) : text;
    return { id, type: 'function', function: { name: wireName, arguments: written } };
  }

  private flush(): void {
    if (this.userContent.length > 0) this.messages.push({ role: 'user', content: contentOf(this.userContent) });
    this.userContent = [];
  }
}

const isContent = (part: Part): part is TextPart | ImagePart | FilePart | AudioPart =>
  part.kind === 'text' || part.kind === 'image' || part.kind === 'file' || part.kind === 'audio';

/** A single text is a string, as every server knows it. */
function contentOf(parts: readonly TreeObject[]): JsonTree {
  const [first, ...others] = parts;
  return first?.['type'] === 'text' && others.length === 0 ? (first['text'] ?? null) : parts;
}

const DETAILS: readonly (string | undefined)[] = ['auto', 'low', 'high'];

/** @throws AppError invalid_request when the upstream does not support the part */
function buildPart(part: TextPart | ImagePart | FilePart | AudioPart, flags: ChatFlags): TreeObject {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return buildImage(part, flags);
    case 'file':
      return buildFile(part);
    case 'audio':
      if (!flags.audio) throw unsupported('input_audio', 'has a format that this upstream does not accept');
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } };
    default:
      return part satisfies never;
  }
}

function buildImage({ source, detail }: ImagePart, { imageUrl }: ChatFlags): TreeObject {
  if (source.from === 'url' && !imageUrl) {
    throw unsupported('image_url', 'is a URL, which this upstream does not fetch; send the image data');
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
      throw unsupported('file_url', 'is a URL, which this upstream does not fetch; send the file data');
    default:
      return source satisfies never;
  }
}
