// Owns the dialects: one folder each, complete in itself. Does not own anything that two dialects share (call), nor the
// path of a call (relay).
export { ResponsesModule } from './responses/index.js';
export { ChatCompletionsModule } from './chat-completions/chat-completions.module.js';
export { MessagesModule } from './messages/messages.module.js';
export { GeminiModule } from './gemini/gemini.module.js';
