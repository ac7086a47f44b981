import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../platform/shared/index.js';
import type { CreatedState, ScopedId } from '../../protocols/contract/index.js';
import { type UpstreamOrigin, StoredResponseLimits } from './stored-response.js';

/** A row of created state. */
interface StateRow extends UpstreamOrigin {
  readonly kind: string;
  readonly id: string;
}

/** Last use, and expiry after it; the upstream may delete it earlier. */
interface StateUse {
  readonly usedAt: Date;
  readonly expiresAt: Date;
}

/** Ordered by key, so that concurrent inserts do not deadlock. */
const RECORD = `
  INSERT INTO upstream_states (account_id, kind, id, channel_id, credential_id, used_at, expires_at, ends_at)
  SELECT DISTINCT ON (s.kind, s.id) a.id, s.kind, s.id, $2, $3, $4::timestamptz, LEAST(s.ends_at, $5::timestamptz), s.ends_at
    FROM accounts a CROSS JOIN unnest($6::text[], $7::text[], $8::timestamptz[]) AS s (kind, id, ends_at)
   WHERE a.id = $1 AND a.state <> 'deleted'
   ORDER BY s.kind, s.id, s.ends_at DESC NULLS LAST
  ON CONFLICT (account_id, kind, id) DO UPDATE
     SET channel_id = EXCLUDED.channel_id, credential_id = EXCLUDED.credential_id, used_at = EXCLUDED.used_at,
         expires_at = EXCLUDED.expires_at, ends_at = EXCLUDED.ends_at`;

/** Use is recorded at most once a day: most reads write nothing, and none waits. */
const FIND = `
  WITH named AS (SELECT DISTINCT kind, id FROM unnest($2::text[], $3::text[]) AS n (kind, id)),
  stale AS (
    SELECT kind, id FROM upstream_states JOIN named USING (kind, id)
     WHERE account_id = $1 AND expires_at > $4 AND used_at < $4::timestamptz - interval '1 day'
       FOR UPDATE OF upstream_states SKIP LOCKED),
  renewed AS (
    UPDATE upstream_states u SET used_at = $4, expires_at = LEAST(u.ends_at, $5::timestamptz)
      FROM stale WHERE u.account_id = $1 AND u.kind = stale.kind AND u.id = stale.id)
  SELECT kind, id, channel_id AS "channelId", credential_id AS "credentialId"
    FROM upstream_states JOIN named USING (kind, id)
   WHERE account_id = $1 AND expires_at > $4`;

/** The least recently used state beyond an account's limit. */
const EVICT = `
  DELETE FROM upstream_states WHERE account_id = $1 AND (kind, id) IN (
    SELECT kind, id FROM upstream_states WHERE account_id = $1
     ORDER BY used_at DESC, kind, id OFFSET $2 FOR UPDATE SKIP LOCKED)`;

@Injectable()
export class UpstreamStatesRepository {
  constructor(private readonly dataSource: DataSource) {}

  async record(
    accountId: string,
    { channelId, credentialId }: UpstreamOrigin,
    states: readonly (Pick<ScopedId, 'kind' | 'id'> & { readonly endsAt: Date | null })[],
    { usedAt, expiresAt }: StateUse,
  ): Promise<void> {
    const [kinds, ids, ends] = [states.map((s) => s.kind), states.map((s) => s.id), states.map((s) => s.endsAt)];
    await this.dataSource.query(RECORD, [accountId, channelId, credentialId, usedAt, expiresAt, kinds, ids, ends]);
  }

  find(
    accountId: string,
    references: readonly Pick<ScopedId, 'kind' | 'id'>[],
    { usedAt, expiresAt }: StateUse,
  ): Promise<readonly StateRow[]> {
    const [kinds, ids] = [references.map(({ kind }) => kind), references.map(({ id }) => id)];
    return this.dataSource.query(FIND, [accountId, kinds, ids, usedAt, expiresAt]);
  }

  async evict(accountId: string, maxStates: number): Promise<void> {
    await this.dataSource.query(EVICT, [accountId, maxStates]);
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.dataSource.query('DELETE FROM upstream_states WHERE expires_at <= $1', [now]);
  }
}

/** Inserts of this process between evictions. */
const RECORDS_PER_EVICTION = 64;

/** IDs of upstream state per account: containers, files, conversations, threads. Shared by all keys of the account. */
@Injectable()
export class UpstreamStates {
  private records = 0;

  constructor(
    private readonly repository: UpstreamStatesRepository,
    private readonly limits: StoredResponseLimits,
    private readonly clock: Clock,
  ) {}

  /** Kept until the upstream deletes it, at most 30 days after its last use. */
  async record(accountId: string, origin: UpstreamOrigin, created: readonly CreatedState[]): Promise<void> {
    const states = created.map(({ kind, id, endsAt }) => ({
      kind,
      id,
      endsAt: endsAt === undefined ? null : new Date(endsAt),
    }));
    await this.repository.record(accountId, origin, states, this.use());
    if (++this.records % RECORDS_PER_EVICTION === 0)
      await this.repository.evict(accountId, this.limits.maxStatesPerAccount);
  }

  /** Makers of the named state, by position; undefined if not made for the account, or expired. */
  async originsOf(
    accountId: string,
    references: readonly ScopedId[],
  ): Promise<readonly (UpstreamOrigin | undefined)[]> {
    const possible = references.filter(({ id }) => id !== '' && !id.includes('\0'));
    const rows = possible.length === 0 ? [] : await this.repository.find(accountId, possible, this.use());
    const origins = new Map(rows.map((row) => [nameOf(row), row]));
    return references.map((one) => origins.get(nameOf(one)));
  }

  private use(): StateUse {
    const usedAt = this.clock.date();
    return { usedAt, expiresAt: new Date(usedAt.getTime() + this.limits.stateLifetimeMs) };
  }
}

const nameOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind} ${id}`;
