import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';

// Only for the thread: importing this loads some 60 MB.

// What it remembers of texts is somebody's words, and with 100,000 of them it takes longer to look them up than to count.
setMergeCacheSize(0);

/**
 * Runs that the tokenizer would take as one piece. What it does with a piece grows with the square of its length: a
 * minute for 100,000 characters. Cut into such parts they cost a token more each, at most.
 */
const LONG_RUN = /[\p{L}\p{M}]{128}|[^\s\p{L}\p{N}]{128}|\s{128}|[\r\n/]{128}/gu;

/** What looks like a control token in somebody's text is text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** Tokens of a text in the encoding o200k_base, which stands for that of every model. */
export function tokensIn(text: string): number {
  let tokens = 0;
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    tokens += countTokens(text.slice(from, index + run.length), AS_TEXT);
    from = index + run.length;
  }
  return tokens + countTokens(text.slice(from), AS_TEXT);
}
