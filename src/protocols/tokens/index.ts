// Token counting in a separate thread. Adapters define where text is; catalog defines prices.
export { TokenCounter } from './token-counter.js';
export { type CountedTokens, type CountRequest, TokenThread } from './token-thread.js';
export { TokensModule } from './tokens.module.js';
