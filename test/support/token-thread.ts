import { TokenThread } from '../../src/tokens/index.js';

/** The thread that counts tokens, as it was built: Node itself runs it, and knows nothing of how Jest reads our sources. */
export function builtTokenThread(overrides: Partial<TokenThread> = {}): TokenThread {
  const program = new URL('../../dist/src/tokens/token-worker.js', import.meta.url);
  return { ...new TokenThread(), program, ...overrides };
}
