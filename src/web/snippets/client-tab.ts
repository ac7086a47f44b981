import type { ProtocolId } from '../../call/index.js';
import { type CodePiece, highlighted, type Language } from './highlight.js';

/** A model that the reader can call, and the dialects in which it answers. */
export interface Reachable {
  readonly name: string;
  readonly protocols: readonly ProtocolId[];
}

export interface CodeBlock {
  /** What it is, for who hears it and for its copy button. */
  readonly label: string;
  /** Where it goes, when that is not the shell: `~/.codex/config.toml`. */
  readonly file?: string;
  readonly code: readonly CodePiece[];
}

/** One client. */
export interface ClientTab {
  readonly label: string;
  readonly blocks: readonly CodeBlock[];
  /** What is to be done by hand, in order; `code` stands at the end of its line. */
  readonly steps?: readonly { readonly text: string; readonly code?: string }[];
  /** What else there is to know; in place of everything when the client cannot be used. */
  readonly note?: string;
}

/** Whatever there is to say to a client. */
export interface Told {
  readonly baseUrl: string;
  /** The first model that answers in one of the dialects, and the first of these that it answers in. */
  readonly modelIn: (
    ...protocols: readonly ProtocolId[]
  ) => { readonly name: string; readonly protocol: ProtocolId } | undefined;
}

export const block = (label: string, language: Language, code: string, file?: string): CodeBlock => ({
  label,
  code: highlighted(code, language),
  ...(file !== undefined && { file }),
});

/** A client that speaks a dialect in which no model answers. */
export const unusable = (label: string, dialect: string): ClientTab => ({
  label,
  blocks: [],
  note: `${label} speaks ${dialect}, and none of the models that can be called here answers in it yet.`,
});
