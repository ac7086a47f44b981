import { Controller, Get, Head, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DatabaseHealth } from '../database/index.js';
import { RunState } from './run-state.js';

/** What load balancers and clients ask before they call: no key, no body. */
@Controller()
export class HealthController {
  constructor(
    private readonly database: DatabaseHealth,
    private readonly state: RunState,
  ) {}

  /** The process lives. */
  @Get('healthz')
  alive(): { status: string } {
    return { status: 'ok' };
  }

  /** The process can serve: its database answers and it is not on its way out. */
  @Get('readyz')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: string }> {
    if (this.state.draining) {
      void reply.status(503);
      return { status: 'draining' };
    }
    if (await this.database.ping()) return { status: 'ok' };
    void reply.status(503);
    return { status: 'database unavailable' };
  }

  @Get(['', 'health', 'api/hello'])
  hello(): { status: string } {
    return { status: 'ok' };
  }

  @Head(['', 'health', 'api/hello'])
  head(): void {
    // The status line is the answer.
  }
}
