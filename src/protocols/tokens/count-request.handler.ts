import { type ResponsePlaces, textPieces } from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CountReply, CountRequest } from './count-request.js';
import { tokensIn } from './count-tokens.js';
import { pieceTokens, promptTokens } from './prompt-tokens.js';

/** What the thread does with a request. Never throws. */
export function replyCount({ prompt, answer, places }: CountRequest): CountReply {
  try {
    return {
      prompt: promptCount(prompt, places),
      output: tokensInAll(answerTexts(answer, places.answer)),
    };
  } catch (error) {
    // The message would quote what was being read.
    return { fault: error instanceof Error ? error.name : 'unknown' };
  }
}

function promptCount(prompt: CountRequest['prompt'], places: CountRequest['places']): number {
  if (prompt === undefined) return 0;
  if (prompt instanceof Uint8Array) return promptTokens(parsed(prompt), places.prompt);
  const { silent } = places.prompt;
  return Math.ceil(prompt.texts.reduce((tokens, piece) => tokens + pieceTokens(piece, silent), 0) * prompt.share);
}

const tokensInAll = (texts: readonly string[]): number => texts.reduce((tokens, text) => tokens + tokensIn(text), 0);

function answerTexts(answer: CountRequest['answer'], { within, texts }: ResponsePlaces): readonly string[] {
  if (!(answer instanceof Uint8Array)) return answer;
  const whole = parsed(answer);
  const written = Object.fromEntries(within.map((name) => [name, whole[name]]));
  return textPieces(written, new Set(texts));
}

function parsed(bytes: Uint8Array): JsonObject {
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  if (!isJsonObject(value)) throw new TypeError('Not a JSON object.');
  return value;
}
