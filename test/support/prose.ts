/** Plain text whose tokens are known: with the space in front of it, each word is one token of the usual vocabularies. */

const WORDS = [' the', ' quick', ' brown', ' fox', ' jumps', ' over', ' lazy', ' dog'] as const;

/** So many tokens of text, one a piece, as vendors stream it. */
export const prose = (tokens: number): string[] =>
  Array.from({ length: tokens }, (_, index) => WORDS[index % WORDS.length] ?? '');

/** Tokens of prose in whatever was written, events and JSON included. */
export const tokensIn = (text: Buffer | string): number =>
  text.toString().match(/ (?:the|quick|brown|fox|jumps|over|lazy|dog)\b/g)?.length ?? 0;

/** A sentence of each kind of text that tokenizers treat differently. */
export const PHRASES: readonly (readonly [kind: string, text: string])[] = [
  ['English', 'The committee will meet again on Thursday to discuss the findings of its report. '],
  ['Chinese', '委员会将于星期四再次开会讨论报告的结果，请各位委员以书面形式提出意见。'],
  ['Japanese', '委員会は木曜日に再び会合を開き、報告書の結果について話し合います。'],
  ['Russian', 'Комитет снова соберётся в четверг, чтобы обсудить выводы доклада. '],
  ['Arabic', 'ستجتمع اللجنة مرة أخرى يوم الخميس لمناقشة نتائج التقرير. '],
  ['Hindi', 'समिति रिपोर्ट के निष्कर्षों पर चर्चा करने के लिए गुरुवार को फिर बैठक करेगी। '],
  ['code', 'for (const { start, end } of ranges) if (start < from) return { start, end };\n'],
  ['JSON', '{"id":4711,"tags":["a","b"],"price":12.50,"open":true}\n'],
  ['emoji', '😀🎉👍🚀🔥🤔 '],
  ['base64', 'q83vEjRWeJq8Xk0pZ1mYtLw9bHsA'],
];
