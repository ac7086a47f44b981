import { protocolNames } from '../web/index.js';
import { type LoggedCall, RESULT_LABELS, RESULT_TONES } from '../../usage/index.js';
import { messageWithoutReason } from './error-text.js';

/** So much of an error's message stands in the list; all of it stands with the call. */
const MAX_CHARACTERS = 60;

/** A call as a row of the log. @param href opens the row, or closes it */
export const callRow = (call: LoggedCall, href: string, isOpen: boolean) => ({
  id: call.id,
  href,
  isOpen,
  at: call.createdAt,
  model: call.model,
  context: [call.group, call.key, protocolNames(call.protocol).short].filter((text) => text !== '').join(' · '),
  prompt: call.promptTokens,
  completion: call.completionTokens,
  tokenParts: tokenParts(call),
  running: call.result === 'open',
  cost: call.cost,
  firstTokenMs: call.firstTokenMs,
  durationMs: call.durationMs,
  badge: { tone: RESULT_TONES[call.result], label: RESULT_LABELS[call.result] },
  reason: call.errorReason,
  why: shortened(messageWithoutReason(call)),
  attempts: call.attempts > 1 ? call.attempts : undefined,
});

function tokenParts({ cachedTokens, reasoningTokens }: LoggedCall): readonly { tokens: number; name: string }[] {
  return [
    { tokens: cachedTokens ?? 0, name: 'cached' },
    { tokens: reasoningTokens ?? 0, name: 'reasoning' },
  ].filter(({ tokens }) => tokens > 0);
}

const shortened = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1).trimEnd()}…` : text;
