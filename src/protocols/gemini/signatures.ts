import type { OpaqueReasoning, Part, ToolCallPart, Turn } from '../contract/index.js';

// Models sign reasoning; the signature is on the first function call, or on the last part without calls. It must be
// sent back on the same part. https://ai.google.dev/gemini-api/docs/thought-signatures

/** Documented placeholder for calls of other models, which skips validation. */
const UNSIGNED = 'skip_thought_signature_validator';

export const signedBy = (family: string, signature: string): OpaqueReasoning => ({
  kind: 'encrypted',
  family,
  data: signature,
  text: '',
});

/**
 * Assigns signatures to the following call of a turn, or without one to the reasoning itself, sent as an empty text.
 * @param demands every first call must be signed; unsigned ones get the placeholder
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

/** Only signatures of the same family. */
function signatureOf(part: Part, family: string): string | undefined {
  if (part.kind !== 'reasoning' || part.opaque?.kind !== 'encrypted' || part.opaque.family !== family) return undefined;
  return part.opaque.data;
}

/**
 * Index of the first turn with validated calls: after the last user turn with more than results. Turns with both are
 * treated as results: signing too much is harmless.
 */
export const startOfLoop = (turns: readonly Turn[]): number =>
  turns.findLastIndex(({ role, parts }) => role === 'user' && parts.every(({ kind }) => kind !== 'tool-result')) + 1;
