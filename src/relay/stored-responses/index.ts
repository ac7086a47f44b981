// Stored responses, sealed with the secret of the API key that created them, and the ids of upstream state that each
// account may use.
export type { StoredContent, ResponseOwner, NewStoredResponse, StateMaker, StoredResponse } from './stored-response.js';
export { StoredResponseLimits } from './stored-response-limits.js';
export { StoredResponses } from './stored-responses.service.js';
export { StoredResponsesModule } from './stored-responses.module.js';
export { StoredResponseSweep } from './stored-response-sweep.js';
export { UpstreamStates } from './upstream-states.service.js';
