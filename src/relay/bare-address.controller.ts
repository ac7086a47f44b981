import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CallBody, jsonInterests, JsonReader, type ProtocolAdapter } from '../call/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { CallRoute } from './call.guard.js';
import { type DialectChoice, RelayService } from './relay.service.js';

const INTERESTS = jsonInterests('input', 'messages');

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
    return this.relay.answer(new ChoiceByInput(this.adapters), request, reply);
  }
}

/** A Responses request has `input`; anything else is read, and refused, as Chat Completions. */
class ChoiceByInput implements DialectChoice {
  private readonly reader = new JsonReader(INTERESTS);
  /** The dialect that reads it next says so. */
  private isMalformed = false;

  constructor(private readonly adapters: AdapterRegistry) {}

  next(arrived: Buffer): void {
    if (!this.isMalformed) this.tolerate(() => this.reader.next(arrived));
  }

  end(body: CallBody): ProtocolAdapter {
    const fields = this.isMalformed ? undefined : this.tolerate(() => this.reader.end(body));
    const hasInput = fields?.field('input') !== undefined && fields.field('messages') === undefined;
    return this.adapters.protocol(hasInput ? 'responses' : 'chat-completions');
  }

  private tolerate<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch {
      this.isMalformed = true;
      return undefined;
    }
  }
}
