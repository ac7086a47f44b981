import { Module } from '@nestjs/common';
import { StoredAnswerLimits } from './stored-answer-limits.js';
import { StoredAnswerSweep } from './stored-answer-sweep.js';
import { StoredAnswersRepository } from './stored-answers.repository.js';
import { StoredAnswers } from './stored-answers.service.js';

@Module({
  providers: [StoredAnswersRepository, StoredAnswerLimits, StoredAnswers, StoredAnswerSweep],
  exports: [StoredAnswers],
})
export class StoredAnswersModule {}
