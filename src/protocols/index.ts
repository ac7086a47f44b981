// The API protocols, one self-contained folder each. What they share is in contract/ and tokens/; the path of a call
// is in relay.
export { ResponsesModule } from './responses/index.js';
export { ChatCompletionsModule } from './chat-completions/chat-completions.module.js';
export { MessagesModule } from './messages/messages.module.js';
export { GeminiModule } from './gemini/gemini.module.js';
export { InteractionsModule } from './interactions/interactions.module.js';
