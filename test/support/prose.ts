/** Plain text whose tokens are known: with the space in front of it, each word is one token of the usual vocabularies. */

const WORDS = [' the', ' quick', ' brown', ' fox', ' jumps', ' over', ' lazy', ' dog'] as const;

/** So many tokens of text, one a piece, as vendors stream it. */
export const prose = (tokens: number): string[] =>
  Array.from({ length: tokens }, (_, index) => WORDS[index % WORDS.length] ?? '');

/** Tokens of prose in whatever was written, events and JSON included. */
export const tokensIn = (text: Buffer | string): number =>
  text.toString().match(/ (?:the|quick|brown|fox|jumps|over|lazy|dog)\b/g)?.length ?? 0;
