import { Injectable } from '@nestjs/common';
import type { Ticket } from '../billing/index.js';
import { DatabasePools } from '../database/index.js';
import { type AppError, Clock, errorReason, newId } from '../shared/index.js';

/**
 * Closes calls as whoever finds them after their process has died: what was held comes back and nothing is charged. It
 * is no ending that a living process can give a call, so it does not go through the ticket.
 */
@Injectable()
export class InterruptedCalls {
  constructor(
    private readonly pools: DatabasePools,
    private readonly clock: Clock,
  ) {}

  async close({ call, caller }: Ticket, error: AppError): Promise<void> {
    const row = {
      id: call.id,
      created_at: new Date(call.createdAt).toISOString(),
      account_id: caller.accountId,
      key_id: caller.keyId,
      model: call.head.model,
      group_name: caller.groupName,
      protocol: call.protocol,
      upstream_protocol: '',
      channel: '',
      stream: call.head.stream,
      effort: call.head.effort ?? '',
      status: 'interrupted',
      error_reason: errorReason(error.kind),
      error_message: error.message,
      cost: '0',
      billing_basis: 'free',
      duration_ms: 0,
      attempts: 0,
      ip: call.ip,
      opened: true,
    };
    await this.pools.settlement.query(
      `SELECT collected FROM settle_calls(ARRAY[jsonb_populate_record(NULL::settlement, $1)], '{}', '{}', '{}', $2)`,
      [JSON.stringify(row), newId('led', this.clock.now())],
    );
  }
}
