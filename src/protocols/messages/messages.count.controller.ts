import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PromptCounts, PromptRoute } from '../../relay/index.js';
import type { JsonObject } from '../../platform/shared/index.js';
import { MESSAGES_COUNT_PATH, MESSAGES_QUESTION } from './messages.count.js';

@Controller()
@PromptRoute()
export class MessagesCountController {
  constructor(private readonly counts: PromptCounts) {}

  @Post(MESSAGES_COUNT_PATH)
  @HttpCode(200)
  count(@Req() request: FastifyRequest): Promise<JsonObject> {
    return this.counts.answer(MESSAGES_QUESTION, request);
  }
}
