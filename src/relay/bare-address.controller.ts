import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject } from '../shared/index.js';
import type { ProtocolAdapter } from '../call/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { CallRoute } from './call.guard.js';
import { RelayService } from './relay.service.js';

/** Calls that were posted to the base address itself; those whose headers say Messages never come here. */
@Controller()
@CallRoute()
export class BareAddressController {
  constructor(
    private readonly relay: RelayService,
    private readonly adapters: AdapterRegistry,
  ) {}

  @Post('v1')
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.relay.answer((body) => this.dialectOf(body), request, reply);
  }

  /** A Responses request has `input`; anything else is read, and refused, as Chat Completions. */
  private dialectOf(body: Uint8Array): ProtocolAdapter {
    return this.adapters.protocol(hasInput(body) ? 'responses' : 'chat-completions');
  }
}

function hasInput(body: Uint8Array): boolean {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return isJsonObject(parsed) && parsed['input'] !== undefined && parsed['messages'] === undefined;
  } catch {
    // Malformed: the dialect that reads it next says so.
    return false;
  }
}
