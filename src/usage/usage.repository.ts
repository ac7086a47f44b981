import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { UsageRow } from './usage-row.js';

/** Which calls, and from where on. Times in ISO UTC. */
interface UsagePage {
  readonly from: string;
  readonly to: string;
  readonly accountId: string | null;
  /** The last row of the page before. */
  readonly after: Pick<UsageRow, 'position' | 'id'> | undefined;
  readonly size: number;
}

const PAGE = `
  SELECT to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time,
         c.id, coalesce(a.email, '') AS account, coalesce(k.name, '') AS key, c.model, c.group_name AS "group",
         c.protocol, c.upstream_protocol AS "upstreamProtocol", c.channel, c.stream, c.status,
         c.error_reason AS "errorReason", c.prompt_tokens AS "promptTokens", c.cached_tokens AS "cachedTokens",
         c.cache_write_tokens AS "cacheWriteTokens", c.completion_tokens AS "completionTokens",
         c.reasoning_tokens AS "reasoningTokens", c.cost, c.billing_basis AS "billingBasis",
         c.first_token_ms AS "firstTokenMs", c.duration_ms AS "durationMs", c.attempts, c.ip,
         to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
    FROM calls c
    LEFT JOIN accounts a ON a.id = c.account_id
    LEFT JOIN api_keys k ON k.id = c.key_id
   -- Bounds on created_at alone, so that only the partitions of these months are read.
   WHERE c.created_at >= $1::timestamptz AND c.created_at < $2::timestamptz
     AND ($3::text IS NULL OR c.account_id = $3)
     -- A page begins behind the last row of the one before, whatever was added meanwhile.
     AND ($4::timestamptz IS NULL OR (c.created_at, c.id) > ($4::timestamptz, $5::text))
   ORDER BY c.created_at, c.id
   LIMIT $6`;

/** Finished calls, read only. */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Oldest first. */
  page({ from, to, accountId, after, size }: UsagePage): Promise<readonly UsageRow[]> {
    const start = after?.position ?? from;
    return this.dataSource.query(PAGE, [start, to, accountId, after?.position ?? null, after?.id ?? null, size]);
  }
}
