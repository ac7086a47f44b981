import { TranslationThread } from '../../src/relay/index.js';
import { TokenThread } from '../../src/protocols/tokens/index.js';

/** The thread that counts tokens, as it was built: Node itself runs it, and knows nothing of how Jest reads our sources. */
export function builtTokenThread(overrides: Partial<TokenThread> = {}): TokenThread {
  const program = new URL('../../dist/src/protocols/tokens/token-worker.js', import.meta.url);
  return { ...new TokenThread(), program, ...overrides };
}

/** Likewise the thread that translates large requests. */
export function builtTranslationThread(overrides: Partial<TranslationThread> = {}): TranslationThread {
  const program = new URL('../../dist/src/relay/translation-worker.js', import.meta.url);
  return { ...new TranslationThread(), program, ...overrides };
}
