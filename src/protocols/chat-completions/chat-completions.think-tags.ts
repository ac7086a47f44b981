const OPENING = '<think>';
const CLOSING = '</think>';

interface Piece {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

/**
 * Tells thoughts from the answer, for servers that write `<think>…</think>` in front of it. Tags may come in pieces; a
 * tag anywhere else is a text like any other.
 */
export class ThinkTags {
  private stage: 'before' | 'thinking' | 'answering' = 'before';
  /** What may yet turn out to be a tag. */
  private held = '';

  next(text: string): readonly Piece[] {
    if (this.stage === 'answering') return [{ kind: 'text', text }];
    this.held += text;
    return this.stage === 'before' ? this.before() : this.thinking();
  }

  /** What was no tag after all. */
  end(): Piece {
    const text = this.held;
    this.held = '';
    return { kind: this.stage === 'thinking' ? 'reasoning' : 'text', text };
  }

  private before(): readonly Piece[] {
    const begun = this.held.trimStart();
    if (OPENING.startsWith(begun)) return [];
    if (!begun.startsWith(OPENING)) return this.answer(this.held);
    this.stage = 'thinking';
    this.held = begun.slice(OPENING.length);
    return this.thinking();
  }

  private thinking(): readonly Piece[] {
    const end = this.held.indexOf(CLOSING);
    if (end !== -1) {
      const thought: Piece = { kind: 'reasoning', text: this.held.slice(0, end) };
      return [thought, ...this.answer(this.held.slice(end + CLOSING.length))];
    }
    const kept = this.held.length - partialTag(this.held);
    const thought: Piece = { kind: 'reasoning', text: this.held.slice(0, kept) };
    this.held = this.held.slice(kept);
    return [thought];
  }

  private answer(text: string): readonly Piece[] {
    this.stage = 'answering';
    this.held = '';
    return [{ kind: 'text', text }];
  }
}

/** How many characters at the end are the beginning of the closing tag. */
function partialTag(text: string): number {
  for (let length = Math.min(text.length, CLOSING.length - 1); length > 0; length -= 1) {
    if (text.endsWith(CLOSING.slice(0, length))) return length;
  }
  return 0;
}
