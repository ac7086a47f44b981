import { Module } from '@nestjs/common';
import { StoredAnswerLimits } from './stored-answer-limits.js';
import { StoredAnswerSweep } from './stored-answer-sweep.js';
import { StoredAnswersRepository } from './stored-answers.repository.js';
import { StoredAnswers } from './stored-answers.service.js';
import { UpstreamStatesRepository } from './upstream-states.repository.js';
import { UpstreamStates } from './upstream-states.service.js';

@Module({
  providers: [
    StoredAnswersRepository,
    UpstreamStatesRepository,
    StoredAnswerLimits,
    StoredAnswers,
    UpstreamStates,
    StoredAnswerSweep,
  ],
  exports: [StoredAnswers, UpstreamStates],
})
export class StoredAnswersModule {}
