import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PromptCounts, PromptRoute } from '../../relay/index.js';
import type { JsonObject } from '../../platform/shared/index.js';
import { RESPONSES_COUNT_PATH, RESPONSES_QUESTION } from './responses.count.js';

@Controller()
@PromptRoute()
export class ResponsesCountController {
  constructor(private readonly counts: PromptCounts) {}

  @Post(RESPONSES_COUNT_PATH)
  @HttpCode(200)
  count(@Req() request: FastifyRequest): Promise<JsonObject> {
    return this.counts.answer(RESPONSES_QUESTION, request);
  }
}
