import type { OpaqueReasoning, Part, ToolCallPart, Turn } from '../contract/index.js';

// Models sign their thoughts, and the signature stands on a part of the answer: on the first call of a function, or on
// the last part where nothing is called. It goes back on the same part, or the request is refused.
// https://ai.google.dev/gemini-api/docs/thought-signatures

/** What Google documents for calls that none of its models made: they are not checked then. */
const UNSIGNED = 'skip_thought_signature_validator';

/** A signature as reasoning in the answer of a model. */
export const signedBy = (family: string, signature: string): OpaqueReasoning => ({
  kind: 'encrypted',
  family,
  data: signature,
  text: '',
});

/**
 * Which part of a turn carries which signature: a call the one that stands before it; what no call follows is on the
 * reasoning itself, in whose place an empty text is sent.
 * @param demands every first call must be signed: one that is not gets the placeholder
 */
export function placeSignatures(parts: readonly Part[], family: string, demands: boolean): ReadonlyMap<Part, string> {
  const placed = new Map<Part, string>();
  let waiting: { readonly part: Part; readonly signature: string } | undefined;
  for (const part of parts) {
    const signature = signatureOf(part, family);
    if (signature !== undefined) {
      if (waiting !== undefined) placed.set(waiting.part, waiting.signature);
      waiting = { part, signature };
    } else if (part.kind === 'tool-call' && waiting !== undefined) {
      placed.set(part, waiting.signature);
      waiting = undefined;
    }
  }
  if (waiting !== undefined) placed.set(waiting.part, waiting.signature);
  const first = parts.find((part): part is ToolCallPart => part.kind === 'tool-call');
  if (demands && first !== undefined && !placed.has(first)) placed.set(first, UNSIGNED);
  return placed;
}

/** Another vendor's thoughts are no use to this one. */
function signatureOf(part: Part, family: string): string | undefined {
  if (part.kind !== 'reasoning' || part.opaque?.kind !== 'encrypted' || part.opaque.family !== family) return undefined;
  return part.opaque.data;
}

/**
 * The place of the first turn whose calls are checked: behind the last one in which the user does more than to answer
 * them. One in which results and words stand together is counted as an answer: to sign too much is no fault.
 */
export const startOfLoop = (turns: readonly Turn[]): number =>
  turns.findLastIndex(({ role, parts }) => role === 'user' && parts.every(({ kind }) => kind !== 'tool-result')) + 1;
