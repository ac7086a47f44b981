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
  pairResults,
  type Part,
  prefillUnsupported,
  RawJson,
  type ReasoningPart,
  type ResultMedia,
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
import type { InteractionsFlags } from './flags.js';

export interface InteractionsBuild extends BuildContext {
  readonly target: UpstreamTarget;
  readonly flags: InteractionsFlags;
  readonly names: ToolNames;
}

/** @throws AppError invalid_request for unsupported content */
export function buildSteps(build: InteractionsBuild): readonly TreeObject[] {
  const { content, warnings, flags } = build;
  const turns = pairResults(content.turns, warnings);
  const writer = new StepWriter(build);
  const checkedFrom = flags.reasons ? startOfToolLoop(turns) : turns.length;
  for (const [index, { role, parts }] of turns.entries()) {
    if (role === 'assistant') writer.modelTurn(parts, index >= checkedFrom);
    else writer.userTurn(role === 'system' ? parts.map(asReminder) : parts);
  }
  const { steps, lastBy } = writer;
  if (steps.length === 0) throw malformed('messages', 'must contain user content');
  if (lastBy === 'model' && !flags.takesPrefill) {
    throw prefillUnsupported();
  }
  if (steps[0]?.['type'] === 'user_input') return steps;
  warnings.warn('user_message_inserted', 'messages');
  return [{ type: 'user_input', content: [{ type: 'text', text: INSERTED_USER_TEXT }] }, ...steps];
}

/** Writes turns as steps, in order. */
class StepWriter {
  readonly steps: TreeObject[] = [];
  lastBy: 'user' | 'model' | undefined;
  /** Of the last step, while it can be added to. */
  #open: { readonly type: 'user_input' | 'model_output'; readonly content: TreeObject[] } | undefined;
  /** Called functions by call ID. */
  readonly #called = new Map<string, string>();

  constructor(private readonly build: InteractionsBuild) {}

  /** Results first, then what results cannot contain. */
  userTurn(parts: readonly Part[]): void {
    const results = parts.filter((part) => part.kind === 'tool-result');
    for (const result of results) this.#add(this.#result(result), 'user');
    for (const result of results) this.#addContent('user_input', this.#attachments(result));
    for (const part of parts) this.#addContent('user_input', this.#userContent(part));
  }

  /** @param mustBeSigned the first call must follow a signed thought; unsigned ones get the placeholder */
  modelTurn(parts: readonly Part[], mustBeSigned: boolean): void {
    let isSigned = !mustBeSigned;
    for (const part of parts) {
      const thought = part.kind === 'reasoning' ? this.#thought(part) : undefined;
      if (thought !== undefined) this.#add(thought, 'model');
      isSigned ||= thought !== undefined;
      if (part.kind === 'tool-call') {
        if (!isSigned) this.#add({ type: 'thought', signature: UNSIGNED_THOUGHT }, 'model');
        isSigned = true;
        this.#add(this.#call(part), 'model');
      }
      this.#addContent('model_output', this.#modelContent(part));
    }
  }

  #add(step: TreeObject, by: 'user' | 'model'): void {
    this.steps.push(step);
    this.#open = undefined;
    this.lastBy = by;
  }

  #addContent(type: 'user_input' | 'model_output', content: readonly TreeObject[]): void {
    if (content.length === 0) return;
    if (this.#open?.type !== type) {
      const open = { type, content: [] };
      this.#add(open, type === 'user_input' ? 'user' : 'model');
      this.#open = open;
    }
    // Too many for spread arguments.
    for (const item of content) this.#open?.content.push(item);
  }

  #userContent(part: Part): readonly TreeObject[] {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return textContent(part.text);
      case 'image':
        return [this.#media({ kind: 'image', source: part.source })];
      case 'file':
        return part.source.from === 'text'
          ? textContent(textOfFile(part))
          : [this.#media({ kind: 'file', source: part.source })];
      case 'audio':
        return [this.#audio(part)];
      case 'reasoning':
      case 'tool-call':
      case 'tool-result':
        return [];
      default:
        return part satisfies never;
    }
  }

  #modelContent(part: Part): readonly TreeObject[] {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return textContent(part.text);
      case 'image':
      case 'file':
      case 'audio':
        // Images in model turns are dropped.
        this.build.warnings.warn('unsupported_content', 'messages');
        return [];
      case 'reasoning':
      case 'tool-call':
      case 'tool-result':
        return [];
      default:
        return part satisfies never;
    }
  }

  /** As received; undefined for reasoning of other vendors. Thoughts without signature are rejected. */
  #thought({ opaque }: ReasoningPart): TreeObject | undefined {
    if (opaque?.kind !== 'signature' || opaque.family !== this.build.target.family) return undefined;
    const summary = textContent(opaque.text);
    return { type: 'thought', signature: opaque.data, ...(summary.length > 0 && { summary }) };
  }

  #call({ id, name, namespace, arguments: text, isFreeform }: ToolCallPart): TreeObject {
    const wireName = this.build.names.wireName(name, namespace);
    this.#called.set(id, wireName);
    // Only objects are allowed: other arguments are wrapped.
    const args = new RawJson(isFreeform !== true && isObjectText(text) ? text : wrapFreeform(text));
    return { type: 'function_call', id, name: wireName, arguments: args };
  }

  #result(result: ToolResultPart): TreeObject {
    const { id, isError } = result;
    const text = textOfResult(result);
    const media = mediaOf(result).filter((item) => this.#isInline(item));
    return {
      type: 'function_result',
      call_id: id,
      name: this.#called.get(id),
      result:
        media.length === 0
          ? text === ''
            ? this.build.flags.emptyResult
            : text
          : [...textContent(text), ...media.map((item) => this.#media(item))],
      ...(isError && { is_error: true }),
    };
  }

  #attachments(result: ToolResultPart): readonly TreeObject[] {
    return mediaOf(result).flatMap((item) =>
      this.#isInline(item) ? [] : [...textContent(mediaCaption(item, result.id)), this.#media(item)],
    );
  }

  /** URLs in results are not fetched. */
  #isInline({ source }: ResultMedia): boolean {
    return this.build.flags.takesMediaInResults && source.from === 'data';
  }

  #media({ kind, source }: ResultMedia): TreeObject {
    if (source.from === 'data')
      return { type: contentType(kind, source.mediaType), data: source.base64, mime_type: source.mediaType };
    if (!this.build.flags.takesUrls) {
      throw urlUnsupported(kind);
    }
    const mediaType = mediaTypeOf(source.url);
    return { type: contentType(kind, mediaType), uri: source.url, mime_type: mediaType };
  }

  #audio({ format, base64 }: AudioPart): TreeObject {
    if (!this.build.flags.takesAudio) throw audioUnsupported();
    return { type: 'audio', data: base64, mime_type: `audio/${format}` };
  }
}

const textContent = (text: string): readonly TreeObject[] => (text === '' ? [] : [{ type: 'text', text }]);

const CONTENT_TYPES: readonly string[] = ['image', 'audio', 'video'];

/** Files of these types are their own content; all others are documents. */
function contentType(kind: ResultMedia['kind'], mediaType = ''): string {
  const [family = ''] = mediaType.split('/', 1);
  return CONTENT_TYPES.includes(family) ? family : kind === 'image' ? 'image' : 'document';
}
