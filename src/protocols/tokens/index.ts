// Owns the counting of tokens: which words of a request and an answer are counted, and the thread in which it is done.
// Does not own where a dialect puts its words, what a token costs, or when anything is counted.
export { TokenCounter } from './token-counter.js';
export type { CountedTokens, CountRequest } from './count-request.js';
export { TokenThread } from './token-thread.js';
export { TokensModule } from './tokens.module.js';
