import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { defer, finalize, from, type Observable, switchMap } from 'rxjs';
import { DatabasePools } from '../../platform/database/index.js';
import { AdmissionUnavailable, IdempotencyKeyInUse } from './billing.errors.js';
import { CurrentProcess } from './sweeper/presence.js';

interface IdempotencyKeyRow {
  readonly call_id: string;
}

/** Wait, once, for another process to release a key after its response, in ms. */
const HANDOVER_MS = 150;

/** $1 digest of the key, $2 call, $3 this process, which knows that none of its own calls has the key. */
const ACQUIRE = `
  INSERT INTO named_calls AS n (name, call_id, process_id) VALUES ($1, $2, $3)
  ON CONFLICT (name) DO UPDATE SET call_id = EXCLUDED.call_id WHERE n.process_id = EXCLUDED.process_id
  RETURNING call_id`;

const OWNER = 'SELECT call_id FROM named_calls WHERE name = $1';
const RELEASE = 'DELETE FROM named_calls WHERE name = $1 AND call_id = $2';

/**
 * Idempotency keys in use: of all processes, only one runs a call with a given key, so that retries are not charged
 * twice. Keys of a dead process are released when it is swept.
 */
@Injectable()
export class IdempotencyKeys {
  constructor(
    private readonly pools: DatabasePools,
    private readonly self: CurrentProcess,
  ) {}

  /**
   * Cold: runs the call unless another process runs one with this key.
   * @throws IdempotencyKeyInUse, AdmissionUnavailable
   */
  runExclusively<Item>(key: string, callId: string, run: () => Observable<Item>): Observable<Item> {
    return defer(() => {
      const digest = hash('sha256', key, 'buffer');
      const acquired = this.acquire(digest, callId);
      return from(acquired).pipe(
        switchMap(run),
        // Also if the call was abandoned while the key was being acquired.
        finalize(() => void acquired.then(() => this.release(digest, callId)).catch(() => undefined)),
      );
    });
  }

  private async acquire(digest: Buffer, callId: string): Promise<void> {
    if (await this.mayRun(digest, callId)) return;
    await pause(HANDOVER_MS);
    if (await this.mayRun(digest, callId)) return;
    const { rows } = await this.query('idempotency-key-owner', OWNER, [digest]);
    throw new IdempotencyKeyInUse(rows[0]?.call_id);
  }

  private async mayRun(digest: Buffer, callId: string): Promise<boolean> {
    const { rows } = await this.query('acquire-idempotency-key', ACQUIRE, [digest, callId, this.self.id]);
    return rows.length > 0;
  }

  private release(digest: Buffer, callId: string): Promise<unknown> {
    return this.query('release-idempotency-key', RELEASE, [digest, callId]);
  }

  private query(name: string, text: string, values: unknown[]): Promise<{ readonly rows: IdempotencyKeyRow[] }> {
    return this.pools.admission.query<IdempotencyKeyRow>({ name, text, values }).catch((error: unknown) => {
      throw new AdmissionUnavailable(error);
    });
  }
}
