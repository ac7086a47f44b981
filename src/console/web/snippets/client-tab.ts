import type { ProtocolId } from '../../../protocols/contract/index.js';
import { type CodePiece, highlighted, type Language } from './highlight.js';

/** A model that the reader can call. */
export interface Reachable {
  readonly name: string;
  /** The dialects that its upstreams speak. */
  readonly protocols: readonly ProtocolId[];
  /** It answers in every other dialect too: calls are translated. */
  readonly translates: boolean;
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
  /** Manual steps in order; `code` ends the line. */
  readonly steps?: readonly { readonly text: string; readonly code?: string }[];
  /** What else there is to know; in place of everything when the client cannot be used. */
  readonly note?: string;
}

/** What a client speaks: at least one, the best first. */
export type ProtocolSet = readonly [ProtocolId, ...ProtocolId[]];

/** Whatever there is to say to a client. */
export interface Told {
  readonly baseUrl: string;
  /**
   * A model and the protocol to call it with: the first model whose upstream natively supports one of the protocols,
   * in order of preference; otherwise the first model that is translated.
   */
  readonly modelIn: (...protocols: ProtocolSet) => { readonly name: string; readonly protocol: ProtocolId } | undefined;
}

export const block = (label: string, language: Language, code: string, file?: string): CodeBlock => ({
  label,
  code: highlighted(code, language),
  ...(file !== undefined && { file }),
});

/** A client that no available model supports. */
export const unusable = (label: string): ClientTab => ({
  label,
  blocks: [],
  note: `No available model supports ${label} yet.`,
});
