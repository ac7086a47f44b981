import { malformed } from './warnings.js';

/** Those that the upstream is not told of are looked for in every piece of its answer. */
const MAX_STOPS = 100;

/**
 * The texts that end an answer. An empty one stands everywhere, and so it means nothing.
 * @param path of the list in the client's request
 * @throws AppError invalid_request when there are too many
 */
export function stopSequences(texts: readonly string[], path: string): readonly string[] {
  if (texts.length > MAX_STOPS) throw malformed(path, `must have at most ${MAX_STOPS} sequences`);
  return texts.filter((text) => text !== '');
}
