// Owns answers that are kept because their client asked for it: sealed under the secret of the key that they were made
// with, for a day, so many and no larger; and which channel made those that their upstream keeps, and the containers,
// files, conversations and threads that upstreams created for an account.
// Does not own what is in them, nor what a request that leans on them means (protocols), nor when one is kept (relay).
export type { StoredContent, ResponseOwner, NewStoredResponse, StateMaker, StoredResponse } from './stored-response.js';
export { StoredResponseLimits } from './stored-response-limits.js';
export { StoredResponses } from './stored-responses.service.js';
export { StoredResponsesModule } from './stored-responses.module.js';
export { StoredResponseSweep } from './stored-response-sweep.js';
export { UpstreamStates } from './upstream-states.service.js';
