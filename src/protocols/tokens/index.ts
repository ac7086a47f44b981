// Token counting in a separate thread. Adapters define where text is; catalog defines prices.
export { type CountedTokens, type CountRequest, TokenCounter, TokensModule, TokenThread } from './token-counter.js';
