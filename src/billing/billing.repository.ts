import { Injectable } from '@nestjs/common';
import { compositeArray, DatabasePools } from '../database/index.js';
import { Clock, newId } from '../shared/index.js';
import type { AttemptRow, CallRow } from './call-row.js';
import type { PriceSnapshot } from './price-snapshot.js';

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
  readonly group_name: string;
  readonly protocol: string;
  readonly stream: boolean;
  readonly effort: string;
  readonly ip: string;
  readonly snapshot: PriceSnapshot;
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
  hold: string | null;
  free: string | null;
  on_hold: string | null;
  holds: number | null;
}

/** The fields of the type `admission`, in its order. */
const ADMISSION = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'key_version',
  'catalog_version',
  'process_id',
  'model',
  'group_name',
  'protocol',
  'stream',
  'effort',
  'ip',
  'snapshot',
  'prompt',
  'minimum',
  'base',
  'ceiling',
] as const satisfies readonly (keyof AdmissionRequest)[];

/** The fields of the type `settlement`, in its order. */
const SETTLEMENT = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'model',
  'group_name',
  'protocol',
  'upstream_protocol',
  'channel',
  'stream',
  'effort',
  'status',
  'error_reason',
  'error_message',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost',
  'billing_basis',
  'first_token_ms',
  'duration_ms',
  'attempts',
  'ip',
  'opened',
  'snapshot',
] as const satisfies readonly (keyof CallRow)[];

/** The fields of the type `attempt`, in its order. */
const ATTEMPT = [
  'call_id',
  'ordinal',
  'created_at',
  'channel',
  'protocol',
  'upstream_model',
  'upstream_status',
  'outcome',
  'headers_ms',
  'first_token_ms',
  'duration_ms',
] as const satisfies readonly (keyof AttemptRow)[];

/** The two statements that write wallets, keys and calls at once; their text is in the migrations. */
@Injectable()
export class BillingRepository {
  constructor(
    private readonly pools: DatabasePools,
    private readonly clock: Clock,
  ) {}

  /** One result a request, in order. Runs without waiting for the disk: a hold need not survive a crash of the server. */
  async admit(batch: readonly AdmissionRequest[]): Promise<AdmissionResult[]> {
    const snapshots = new Snapshots();
    const calls = compositeArray(
      ADMISSION,
      batch.map((request) => ({ ...request, snapshot: snapshots.place(request.snapshot) })),
    );
    const { rows } = await this.pools.admission.query<AdmissionLine>({
      name: 'admit',
      text: 'SELECT outcome, hold, free, on_hold, holds FROM admit_calls($1, $2)',
      values: [calls, snapshots.texts],
    });
    return rows.map(({ outcome, hold, free, on_hold, holds }) => ({
      outcome,
      hold: BigInt(hold ?? 0),
      free: BigInt(free ?? 0),
      onHold: BigInt(on_hold ?? 0),
      holds: holds ?? 0,
    }));
  }

  /** What was collected of each call, in order; undefined for one that had been settled before. */
  async settle(batch: readonly CallRow[]): Promise<(bigint | undefined)[]> {
    const snapshots = new Snapshots();
    const calls = compositeArray(
      SETTLEMENT,
      batch.map((row) => ({ ...row, snapshot: row.snapshot && snapshots.place(row.snapshot) })),
    );
    const tries = batch.flatMap((row) => row.tries);
    const { rows } = await this.pools.settlement.query<{ collected: string | null }>({
      name: 'settle',
      text: 'SELECT collected FROM settle_calls($1, $2, $3, $4, $5)',
      values: [
        calls,
        snapshots.texts,
        batch.map(({ lines }) => lines),
        compositeArray(ATTEMPT, tries),
        newId('led', this.clock.now()),
      ],
    });
    return rows.map(({ collected }) => (collected === null ? undefined : BigInt(collected)));
  }
}

/** The snapshots of a batch, each once. */
class Snapshots {
  readonly texts: PriceSnapshot[] = [];

  /** Its place among them, from 1. */
  place(text: PriceSnapshot): number {
    const index = this.texts.indexOf(text);
    return index < 0 ? this.texts.push(text) : index + 1;
  }
}
