import { Controller, Get, Head, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AdmissionHealth, BillingService } from './billing/index.js';
import { DatabaseHealth } from '../platform/database/index.js';
import { RunState } from './run-state.js';

type Readiness = 'ok' | 'draining' | 'database unavailable' | 'calls not admitted';

/** What load balancers and clients ask before they call: no key, no body. A HEAD is answered as the GET would be. */
@Controller()
export class HealthController {
  constructor(
    private readonly database: DatabaseHealth,
    private readonly admissions: AdmissionHealth,
    private readonly billing: BillingService,
    private readonly state: RunState,
  ) {}

  /** The process lives, also when it is on its way out. */
  @Get('healthz')
  alive(): { status: string } {
    return { status: 'ok' };
  }

  @Head('healthz')
  aliveHead(): { status: string } {
    return this.alive();
  }

  /** The process can serve: its database responds, calls are admitted, and it is not on its way out. */
  @Get('readyz')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: string }> {
    const status = await this.readiness();
    if (status !== 'ok') void reply.status(503);
    return { status };
  }

  @Head('readyz')
  readyHead(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: string }> {
    return this.ready(reply);
  }

  @Get(['health', 'api/hello'])
  hello(): { status: string } {
    return { status: 'ok' };
  }

  @Head(['health', 'api/hello'])
  head(): void {
    // The status line is the answer.
  }

  private async readiness(): Promise<Readiness> {
    if (this.state.draining) return 'draining';
    const [responds, admits] = await Promise.all([this.database.ping(), this.admissions.check()]);
    if (!responds) return 'database unavailable';
    return admits && !this.billing.full ? 'ok' : 'calls not admitted';
  }
}
