import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { conditions, Parameters, type UsageFilter } from '../usage-filter.js';
import type { UsageRow } from './usage-row.js';

/** Which calls, and from where on. */
interface UsagePage {
  readonly filter: UsageFilter;
  /** The last row of the page before. */
  readonly after: Pick<UsageRow, 'position' | 'id'> | undefined;
  readonly size: number;
}

const COLUMNS = `
  SELECT to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time,
         c.id, coalesce(a.email, '') AS account, coalesce(k.name, '') AS key, c.model, c.group_name AS "group",
         c.protocol, c.upstream_protocol AS "upstreamProtocol", c.channel, c.stream, c.status,
         c.error_reason AS "errorReason", c.prompt_tokens AS "promptTokens", c.cached_tokens AS "cachedTokens",
         c.cache_write_tokens AS "cacheWriteTokens", c.completion_tokens AS "completionTokens",
         c.reasoning_tokens AS "reasoningTokens", c.cost, c.billing_basis AS "billingBasis",
         c.first_token_ms AS "firstTokenMs", c.duration_ms AS "durationMs", c.attempts, c.ip,
         c.upstream_report::text AS "upstreamReport",
         to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
    FROM calls c
    LEFT JOIN accounts a ON a.id = c.account_id
    LEFT JOIN api_keys k ON k.id = c.key_id`;

/** Finished calls, read only. */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Oldest first. A page begins behind the last row of the one before, whatever was added meanwhile. */
  page({ filter, after, size }: UsagePage): Promise<readonly UsageRow[]> {
    const parameters = new Parameters();
    // Bounds on created_at alone, so that only the partitions of these months are read.
    const bounds = `c.created_at >= ${parameters.time(after?.position ?? filter.from)} AND c.created_at < ${parameters.time(filter.to)}`;
    const behind = after
      ? ` AND (c.created_at, c.id) > (${parameters.time(after.position)}, ${parameters.add(after.id)})`
      : '';
    return this.dataSource.query(
      `${COLUMNS} WHERE ${bounds}${behind}${conditions(filter, parameters)}
        ORDER BY c.created_at, c.id LIMIT ${parameters.add(size, 'integer')}`,
      parameters.values,
    );
  }
}
