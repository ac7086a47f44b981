// Stored and background responses, sealed with the secret of the API key that created them, and the ids of upstream
// state that each account may use.
export { type BackgroundResponse, BackgroundResponses, type BackgroundStatus } from './background-responses.js';
export { type Conversation, type ConversationItem, Conversations } from './conversations.js';
export {
  type NewStoredResponse,
  type ResponseOwner,
  type StoredResponse,
  StoredResponseLimits,
  type UpstreamOrigin,
} from './stored-response.js';
export { StoredResponses } from './stored-responses.service.js';
export { StoredResponsesModule, StoredResponseSweep } from './stored-responses.module.js';
export { UpstreamStates } from './upstream-states.js';
