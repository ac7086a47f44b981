import { Injectable } from '@nestjs/common';
import { DatabasePools } from '../database/index.js';
import type { CallRow } from './call-row.js';

/** What one call asks of admission; amounts in nanos. */
export interface AdmissionRequest {
  readonly id: string;
  readonly created_at: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly key_version: number;
  readonly catalog_version: string;
  readonly process_id: string;
  readonly model: string;
  readonly facts: object;
  readonly snapshot: object;
  readonly prompt: string;
  readonly minimum: string;
  readonly base: string;
  readonly ceiling: string;
}

export type AdmissionOutcome = 'admitted' | 'stale' | 'key_state' | 'account_state' | 'wallet' | 'key';

/** What admission decided for one call. */
export interface AdmissionResult {
  readonly outcome: AdmissionOutcome;
  readonly hold: bigint;
  /** What was free when the call came, of the wallet, or of the key when the key refused. */
  readonly free: bigint;
  /** What running calls hold of the same. */
  readonly onHold: bigint;
  readonly holds: number;
}

interface AdmissionLine {
  outcome: AdmissionOutcome;
  hold: string;
  free: string | null;
  on_hold: string | null;
  holds: number | null;
}

/** The two statements that write wallets, keys and calls at once; their text is in the migrations. */
@Injectable()
export class BillingRepository {
  constructor(private readonly pools: DatabasePools) {}

  /** One result a request, in order. Runs without waiting for the disk: a hold need not survive a crash of the server. */
  async admit(batch: readonly AdmissionRequest[]): Promise<AdmissionResult[]> {
    const { rows } = await this.pools.admission.query<AdmissionLine>({
      name: 'admit',
      text: 'SELECT outcome, hold, free, on_hold, holds FROM admit_calls($1)',
      values: [toJson(batch)],
    });
    return rows.map(({ outcome, hold, free, on_hold, holds }) => ({
      outcome,
      hold: BigInt(hold),
      free: BigInt(free ?? 0),
      onHold: BigInt(on_hold ?? 0),
      holds: holds ?? 0,
    }));
  }

  /** What was collected of each call, in order; undefined for one that had been settled before. */
  async settle(batch: readonly CallRow[]): Promise<(bigint | undefined)[]> {
    const { rows } = await this.pools.settlement.query<{ collected: string | null }>({
      name: 'settle',
      text: 'SELECT collected FROM settle_calls($1)',
      values: [toJson(batch)],
    });
    return rows.map(({ collected }) => (collected === null ? undefined : BigInt(collected)));
  }
}

/** Escapes in JSON text that PostgreSQL refuses: NUL, and half of a pair of surrogates. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** Text as PostgreSQL can store it: without NUL, and well-formed; by the slow way only when there is such a thing. */
function toJson(batch: readonly object[]): string {
  const json = JSON.stringify(batch);
  if (!UNSTORABLE.test(json)) return json;
  return JSON.stringify(batch, (_, value: unknown) =>
    typeof value === 'string' ? Buffer.from(value.replaceAll('\0', '')).toString('utf8') : value,
  );
}
