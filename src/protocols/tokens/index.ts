// Token counting in a separate thread: which texts of a request and a response count, and their tokens. Where a
// protocol puts its texts is in its adapter; the price of a token is in catalog.
export { TokenCounter } from './token-counter.js';
export { type CountedTokens, type CountRequest, TokenThread } from './token-thread.js';
export { TokensModule } from './tokens.module.js';
