import { type Annotation, type CallContent, type CallEvent, PartSequencer, ToolNames } from '../contract/index.js';
import type { CallFragment } from './chat-completions.delta.js';
import { DecodedCalls } from './chat-completions.decoded-calls.js';
import { TOOL_NAME } from './chat-completions.flags.js';

type TextKind = 'text' | 'refusal' | 'reasoning';

/**
 * Tells the parts of an answer apart, which this dialect does not: a text goes on until something else is said, a call
 * until its arguments are whole and something else is said.
 */
export class DecodedParts {
  private readonly sequencer: PartSequencer;
  private readonly calls: DecodedCalls;
  /** The text that is being said. */
  private passage: { readonly key: string; readonly kind: TextKind; text: string } | undefined;
  private passages = 0;

  /** @param family whose reasoning it is */
  constructor(
    content: CallContent,
    private readonly family: string,
  ) {
    this.sequencer = new PartSequencer(content);
    this.calls = new DecodedCalls(this.sequencer, new ToolNames(content.tools, TOOL_NAME));
  }

  get hasCalls(): boolean {
    return this.sequencer.callCount > 0;
  }

  text(kind: TextKind, text: string): CallEvent[] {
    if (text === '') return [];
    const begun = this.passage?.kind === kind ? [] : this.begin(kind);
    const { passage } = this;
    if (passage === undefined) return begun;
    passage.text += text;
    return [...begun, ...this.sequencer.append(passage.key, text)];
  }

  annotate(annotation: Annotation): void {
    if (this.passage !== undefined) this.sequencer.annotate(this.passage.key, annotation);
  }

  call(fragment: CallFragment): CallEvent[] {
    return [...this.endPassage(), ...this.calls.next(fragment)];
  }

  /** Nothing comes any more. */
  finish(): CallEvent[] {
    return [...this.endPassage(), ...this.calls.end(), ...this.sequencer.finishAll()];
  }

  private begin(kind: TextKind): CallEvent[] {
    const events = [...this.endPassage(), ...this.calls.pause()];
    const key = `passage ${(this.passages += 1)}`;
    this.passage = { key, kind, text: '' };
    return [...events, ...this.sequencer.start(key, { kind })];
  }

  private endPassage(): CallEvent[] {
    const { passage, family } = this;
    if (passage === undefined) return [];
    this.passage = undefined;
    const { key, kind, text } = passage;
    if (kind === 'reasoning') this.sequencer.seal(key, { kind: 'text', family, data: '', text });
    return this.sequencer.finish(key);
  }
}
