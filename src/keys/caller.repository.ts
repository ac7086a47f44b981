import { Injectable } from '@nestjs/common';
import type { AccountState } from '../auth/index.js';
import { DatabasePools } from '../platform/database/index.js';
import { limitsIn } from '../platform/limits/index.js';
import type { Caller, KeyState } from './caller.js';
import { Networks } from './networks.js';

/** Everything that every call must know of its key, in one row. */
const SELECT_CALLERS = (keys: string): string => `
  SELECT k.id, k.name, k.state, k.version, k.expires_at, k.account_id, k.models, k.strict, k.never_stores, k.secret_hash,
         k.networks, k.requests_per_minute, k.tokens_per_minute, k.concurrency,
         a.requests_per_minute AS account_requests_per_minute, a.tokens_per_minute AS account_tokens_per_minute,
         a.concurrency AS account_concurrency, a.state AS account_state, coalesce(k.group_name, a.group_name, 'default') AS group_name
    FROM ${keys} k JOIN accounts a ON a.id = k.account_id`;

const STORED = SELECT_CALLERS('api_keys');
/** Of the id $2: as a row is made that says no more than whose it is. */
const NEW = SELECT_CALLERS(`(SELECT (jsonb_populate_record(NULL::api_keys, jsonb_build_object(
  'id', $2::text, 'account_id', $1::text, 'name', '', 'secret_hash', '', 'state', 'enabled', 'version', 1,
  'strict', false, 'never_stores', false))).*)`);

interface Row {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly version: number;
  readonly expires_at: Date | null;
  readonly account_id: string;
  readonly models: readonly string[] | null;
  readonly strict: boolean;
  readonly never_stores: boolean;
  readonly secret_hash: Buffer;
  readonly networks: readonly string[] | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  readonly account_requests_per_minute: number | null;
  readonly account_tokens_per_minute: number | null;
  readonly account_concurrency: number | null;
  readonly account_state: AccountState;
  readonly group_name: string;
}

/** The hot path's view of keys: read only, through named statements. */
@Injectable()
export class CallerRepository {
  constructor(private readonly pools: DatabasePools) {}

  /** One answer for each hash, in order; undefined where we issued no such key. */
  async findByHashes(hashes: readonly Buffer[]): Promise<readonly (Caller | undefined)[]> {
    const text = `${STORED} WHERE k.secret_hash = ANY ($1::bytea[])`;
    const { rows } = await this.pools.admission.query<Row>({ name: 'callers-by-hash', text, values: [hashes] });
    const callers = new Map(rows.map((row) => [row.secret_hash.toString('base64'), callerOf(row)]));
    return hashes.map((hash) => callers.get(hash.toString('base64')));
  }

  /** In no order; ids of no key are left out. */
  async findByIds(keyIds: readonly string[]): Promise<readonly Caller[]> {
    const text = `${STORED} WHERE k.id = ANY ($1::text[])`;
    const { rows } = await this.pools.admission.query<Row>({ name: 'callers-by-id', text, values: [keyIds] });
    return rows.map(callerOf);
  }

  /** The caller that a key of this id makes which is not stored, and has no settings of its own. */
  async ofNewKey(accountId: string, keyId: string): Promise<Caller | undefined> {
    const { rows } = await this.pools.general.query<Row>({ text: NEW, values: [accountId, keyId] });
    return rows[0] && callerOf(rows[0]);
  }
}

const callerOf = (row: Row): Caller => ({
  keyId: row.id,
  keyName: row.name,
  keyState: row.state,
  keyVersion: row.version,
  expiresAt: row.expires_at?.getTime(),
  accountId: row.account_id,
  accountState: row.account_state,
  groupName: row.group_name,
  models: row.models === null ? undefined : new Set(row.models),
  strict: row.strict,
  storesAnswers: !row.never_stores,
  networks: row.networks === null ? undefined : new Networks(row.networks),
  keyLimits: limitsIn({
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    concurrency: row.concurrency,
  }),
  accountLimits: limitsIn({
    requestsPerMinute: row.account_requests_per_minute,
    tokensPerMinute: row.account_tokens_per_minute,
    concurrency: row.account_concurrency,
  }),
});
