import { Controller, Get, Head, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AdmissionHealth, BillingService } from './billing/index.js';
import { DatabaseHealth } from '../platform/database/index.js';
import { RunState } from './run-state.js';

type Readiness = 'ok' | 'draining' | 'database unavailable' | 'calls not admitted';

/** Health endpoints without key and body. HEAD returns the status of GET. */
@Controller()
export class HealthController {
  constructor(
    private readonly database: DatabaseHealth,
    private readonly admissions: AdmissionHealth,
    private readonly billing: BillingService,
    private readonly state: RunState,
  ) {}

  /** Liveness, including during shutdown. */
  @Get(['healthz', 'health', 'api/hello'])
  alive(): { status: string } {
    return { status: 'ok' };
  }

  @Head('healthz')
  aliveHead(): { status: string } {
    return this.alive();
  }

  /** Readiness: the database responds, calls are admitted, and no shutdown is in progress. */
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

  @Head(['health', 'api/hello'])
  head(): void {
    // The status says it all.
  }

  private async readiness(): Promise<Readiness> {
    if (!this.state.ready) return 'draining';
    const [responds, admits] = await Promise.all([this.database.ping(), this.admissions.check()]);
    if (!responds) return 'database unavailable';
    return admits && !this.billing.full ? 'ok' : 'calls not admitted';
  }
}
