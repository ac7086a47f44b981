import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Annotation,
  type CallContent,
  type CallEvent,
  PartSequencer,
  RawJson,
  ToolNames,
  unwrapFreeform,
} from '../contract/index.js';
import { FUNCTION_NAMES } from './build-contents.js';
import { signedBy } from './signatures.js';

type PassageKind = 'text' | 'reasoning';

/**
 * The parts of an answer. The dialect cuts texts into pieces where it likes, and a signature may come on any of them:
 * each becomes reasoning in front of what it stands on, or behind a text that has begun.
 */
export class ResponseParts {
  readonly #sequencer: PartSequencer;
  readonly #names: ToolNames;
  /** The text or the thoughts that are being told. */
  #passage: { readonly key: string; readonly kind: PassageKind } | undefined;
  #count = 0;

  constructor(
    content: CallContent,
    private readonly family: string,
  ) {
    this.#sequencer = new PartSequencer(content);
    this.#names = new ToolNames(content.tools, FUNCTION_NAMES);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get hasCalls(): boolean {
    return this.#sequencer.callCount > 0;
  }

  /** What a part says; those of the upstream's own tools are for nobody. */
  next(part: JsonObject): CallEvent[] {
    const { text, thought, functionCall, thoughtSignature } = part;
    const signature = typeof thoughtSignature === 'string' ? thoughtSignature : '';
    if (isJsonObject(functionCall)) return [...this.#sign(signature), ...this.#call(functionCall)];
    const kind = thought === true ? 'reasoning' : 'text';
    const said = typeof text === 'string' ? text : '';
    const isBegun = kind === 'reasoning' || said === '' || this.#passage?.kind === 'text';
    if (isBegun) return [...this.#say(kind, said), ...this.#sign(signature)];
    return [...this.#sign(signature), ...this.#say(kind, said)];
  }

  /** Where the text that is being told comes from. False when no text is: then they are for one that comes. */
  cite(sources: readonly Annotation[]): boolean {
    if (this.#passage?.kind !== 'text') return false;
    for (const source of sources) this.#sequencer.annotate(this.#passage.key, source);
    return true;
  }

  finish(): CallEvent[] {
    return this.#endPassage();
  }

  #say(kind: PassageKind, text: string): CallEvent[] {
    if (text === '') return [];
    const begun = this.#passage?.kind === kind ? [] : this.#begin(kind);
    return [...begun, ...this.#sequencer.append(this.#passage?.key ?? '', text)];
  }

  /** It belongs to the thoughts in front of it, which may not be shown. */
  #sign(signature: string): CallEvent[] {
    if (signature === '') return [];
    const begun = this.#passage?.kind === 'reasoning' ? [] : this.#begin('reasoning');
    this.#sequencer.seal(this.#passage?.key ?? '', signedBy(this.family, signature));
    return [...begun, ...this.#endPassage()];
  }

  #call({ id, name: wireName, args }: JsonObject): CallEvent[] {
    // Nobody could answer it.
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
