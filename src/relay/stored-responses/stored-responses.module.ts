import { Module } from '@nestjs/common';
import { StoredResponseLimits } from './stored-response-limits.js';
import { StoredResponseSweep } from './stored-response-sweep.js';
import { StoredResponsesRepository } from './stored-responses.repository.js';
import { StoredResponses } from './stored-responses.service.js';
import { UpstreamStatesRepository } from './upstream-states.repository.js';
import { UpstreamStates } from './upstream-states.service.js';

@Module({
  providers: [
    StoredResponsesRepository,
    UpstreamStatesRepository,
    StoredResponseLimits,
    StoredResponses,
    UpstreamStates,
    StoredResponseSweep,
  ],
  exports: [StoredResponses, UpstreamStates],
})
export class StoredResponsesModule {}
