// Owns answers that are kept because their client asked for it: sealed under the secret of the key that they were made
// with, for a day, so many and no larger; and which channel made those that their upstream keeps, and the containers,
// files, conversations and threads that upstreams created for an account.
// Does not own what is in them, nor what a request that leans on them means (protocols), nor when one is kept (relay).
export type { AnswerContent, AnswerOwner, NewAnswer, StateMaker, StoredAnswer } from './stored-answer.js';
export { StoredAnswerLimits } from './stored-answer-limits.js';
export { StoredAnswers } from './stored-answers.service.js';
export { StoredAnswersModule } from './stored-answers.module.js';
export { StoredAnswerSweep } from './stored-answer-sweep.js';
export { UpstreamStates } from './upstream-states.service.js';
