import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Annotation,
  type CallContent,
  type CallEvent,
  GOOGLE_FUNCTION_NAMES,
  PartSequencer,
  RawJson,
  ToolNames,
  unwrapFreeform,
} from '../contract/index.js';
import { signedBy } from './build-contents.js';

type PassageKind = 'text' | 'reasoning';

/**
 * The protocol splits text anywhere, and signatures may be on any piece: each becomes reasoning before its part, or
 * after a text that has begun.
 */
export class ResponseParts {
  readonly #sequencer: PartSequencer;
  readonly #names: ToolNames;
  #passage: { readonly key: string; readonly kind: PassageKind } | undefined;
  #count = 0;

  constructor(
    content: CallContent,
    private readonly family: string,
  ) {
    this.#sequencer = new PartSequencer(content);
    this.#names = new ToolNames(content.tools, GOOGLE_FUNCTION_NAMES);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get hasCalls(): boolean {
    return this.#sequencer.callCount > 0;
  }

  /** Ignores parts of hosted tools. */
  next(part: JsonObject): CallEvent[] {
    const { text, thought, functionCall, thoughtSignature } = part;
    const signature = typeof thoughtSignature === 'string' ? thoughtSignature : '';
    if (isJsonObject(functionCall)) return [...this.#sign(signature), ...this.#call(functionCall)];
    const kind = thought === true ? 'reasoning' : 'text';
    const content = typeof text === 'string' ? text : '';
    const isBegun = kind === 'reasoning' || content === '' || this.#passage?.kind === 'text';
    if (isBegun) return [...this.#append(kind, content), ...this.#sign(signature)];
    return [...this.#sign(signature), ...this.#append(kind, content)];
  }

  /** False if there is no current text: then the sources belong to the next one. */
  cite(sources: readonly Annotation[]): boolean {
    if (this.#passage?.kind !== 'text') return false;
    for (const source of sources) this.#sequencer.annotate(this.#passage.key, source);
    return true;
  }

  finish(): CallEvent[] {
    return this.#endPassage();
  }

  #append(kind: PassageKind, text: string): CallEvent[] {
    if (text === '') return [];
    const begun = this.#passage?.kind === kind ? [] : this.#begin(kind);
    return [...begun, ...this.#sequencer.append(this.#passage?.key ?? '', text)];
  }

  /** Belongs to the preceding reasoning, which may be hidden. */
  #sign(signature: string): CallEvent[] {
    if (signature === '') return [];
    const begun = this.#passage?.kind === 'reasoning' ? [] : this.#begin('reasoning');
    this.#sequencer.seal(this.#passage?.key ?? '', signedBy(this.family, signature));
    return [...begun, ...this.#endPassage()];
  }

  #call({ id, name: wireName, args }: JsonObject): CallEvent[] {
    // It could not be executed.
    if (typeof wireName !== 'string' || wireName === '') return [];
    const { name, namespace, freeform } = this.#names.toolOf(wireName);
    const text = args instanceof RawJson ? args.text : '';
    const key = this.#newKey();
    return [
      ...this.#endPassage(),
      ...this.#sequencer.start(key, {
        kind: 'tool-call',
        id: typeof id === 'string' ? id : '',
        name,
        ...(namespace !== undefined && { namespace }),
        ...(freeform !== undefined && { isFreeform: true }),
      }),
      ...this.#sequencer.append(key, freeform === undefined ? text : unwrapFreeform(text)),
      ...this.#sequencer.finish(key),
    ];
  }

  #begin(kind: PassageKind): CallEvent[] {
    const ended = this.#endPassage();
    this.#passage = { key: this.#newKey(), kind };
    return [...ended, ...this.#sequencer.start(this.#passage.key, { kind })];
  }

  #endPassage(): CallEvent[] {
    const ended = this.#passage;
    this.#passage = undefined;
    return ended === undefined ? [] : this.#sequencer.finish(ended.key);
  }

  #newKey(): string {
    this.#count += 1;
    return String(this.#count);
  }
}
