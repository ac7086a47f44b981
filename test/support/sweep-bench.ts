import type { TestingModule } from '@nestjs/testing';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { AdmissionRequest } from '../../src/relay/billing/admission.js';
import { BillingModule, Sweeper, SweepTimings } from '../../src/relay/billing/index.js';
import { BillingRepository } from '../../src/relay/billing/billing.repository.js';
import type { CallRow } from '../../src/relay/billing/call-row.js';
import { Presence, CurrentProcess } from '../../src/relay/billing/sweeper/presence.js';
import { ADVISORY_LOCKS } from '../../src/platform/database/index.js';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { LedgerCheck, WalletModule, WalletService } from '../../src/wallet/index.js';
import { admissionOf, finished as finishedRow } from './billing-rows.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { startOn } from './modules.js';

/** A row of `processes` as a test wants it. */
interface ProcessRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly identity: string;
  /** Long ago; else it is just heard of, and will be for an hour. */
  readonly silent: boolean;
}

/** A relay process, but for the relay: what admits, settles and sweeps. Its sweeper works when it is told to. */
export class TestProcess {
  private constructor(
    readonly modules: TestingModule,
    readonly timings: SweepTimings,
  ) {}

  static async start(database: TestDatabase, times: Partial<SweepTimings> = {}): Promise<TestProcess> {
    const timings: SweepTimings = { ...new SweepTimings(), ...times };
    const imports = [BillingModule, WalletModule, KeysModule, OnboardingModule];
    const modules = await startOn(database, imports, (builder) =>
      builder.overrideProvider(SweepTimings).useValue(timings),
    );
    const process = new TestProcess(modules, timings);
    await process.presence.begin();
    return process;
  }

  get self(): CurrentProcess {
    return this.modules.get(CurrentProcess, { strict: false });
  }

  get presence(): Presence {
    return this.modules.get(Presence, { strict: false });
  }

  get sweeper(): Sweeper {
    return this.modules.get(Sweeper, { strict: false });
  }

  get billing(): BillingRepository {
    return this.modules.get(BillingRepository, { strict: false });
  }

  sweep(): Promise<void> {
    return this.sweeper.sweep();
  }

  close(): Promise<void> {
    return this.modules.close();
  }
}

/** A database with one account that has a dollar and one key, and processes on it. */
export class SweepBench {
  private readonly processes: TestProcess[] = [];
  private readonly holders: pg.Client[] = [];
  private accountId = '';
  private keyId = '';

  private constructor(readonly database: TestDatabase) {}

  static async start(): Promise<SweepBench> {
    return new SweepBench(await freshDatabase());
  }

  async process(times: Partial<SweepTimings> = {}): Promise<TestProcess> {
    const process = await TestProcess.start(this.database, times);
    this.processes.push(process);
    if (this.accountId === '') await this.addAccount(process.modules);
    return process;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.close()));
    await Promise.all(this.holders.map((holder) => holder.end()));
    await this.database.drop();
  }

  /** Puts a process on the list, again if it is on it; one that was never on any machine unless said otherwise. */
  async list(row: Partial<ProcessRow> = {}): Promise<string> {
    const { id, host, pid, identity, silent } = {
      id: `prs_${randomUUID()}`,
      host: 'elsewhere',
      pid: 1,
      identity: '1',
      silent: true,
      ...row,
    };
    await this.query(
      `INSERT INTO processes (id, host, pid, identity, heartbeat_at) VALUES ($1, $2, $3, $4, now() + $5::interval)
       ON CONFLICT (id) DO UPDATE
          SET host = excluded.host, pid = excluded.pid, identity = excluded.identity, heartbeat_at = excluded.heartbeat_at`,
      [id, host, pid, identity, silent ? '-1 day' : '1 hour'],
    );
    return id;
  }

  /** Holds the lock of a process, as that process does while it lives. */
  async lock(id: string): Promise<void> {
    const holder = new pg.Client({ connectionString: this.database.url });
    this.holders.push(holder);
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock_shared($1, hashtext($2))', [ADVISORY_LOCKS.process, id]);
  }

  /** What asks to hold a cent. */
  asking(processId: string, overrides: Partial<AdmissionRequest> = {}): AdmissionRequest {
    return admissionOf({ accountId: this.accountId, keyId: this.keyId }, 10_000_000n, {
      process_id: processId,
      stream: true,
      effort: 'low',
      ip: '192.0.2.1',
      snapshot: '{"free":false}',
      ...overrides,
    });
  }

  /** An open call of a process that holds a cent. */
  async open(processId: string, overrides: Partial<AdmissionRequest> = {}): Promise<AdmissionRequest> {
    const request = this.asking(processId, overrides);
    expect(await this.first.billing.admit([request])).toMatchObject([{ outcome: 'admitted' }]);
    return request;
  }

  async openMany(processId: string, count: number): Promise<AdmissionRequest[]> {
    const batch = Array.from({ length: count }, () => this.asking(processId, amountOf(1_000_000n)));
    expect(new Set((await this.first.billing.admit(batch)).map(({ outcome }) => outcome))).toEqual(
      new Set(['admitted']),
    );
    return batch;
  }

  wallet(): Promise<unknown> {
    return this.first.modules.get(WalletService).balanceOf(this.accountId);
  }

  ledger(): Promise<unknown> {
    return this.first.modules.get(LedgerCheck).run();
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.first.modules.get(DataSource).query<Row[]>(text, [...values]);
  }

  calls(): Promise<{ id: string; status: string; cost: string }[]> {
    return this.query('SELECT id, status, cost FROM calls ORDER BY id');
  }

  async openIds(): Promise<string[]> {
    return (await this.query<{ id: string }>('SELECT id FROM open_calls ORDER BY id')).map(({ id }) => id);
  }

  async listed(): Promise<string[]> {
    return (await this.query<{ id: string }>('SELECT id FROM processes ORDER BY id')).map(({ id }) => id);
  }

  private get first(): TestProcess {
    const [first] = this.processes;
    if (first === undefined) throw new Error('No process was started.');
    return first;
  }

  private async addAccount(modules: TestingModule): Promise<void> {
    const credit = { amount: parseUsd('1'), reason: 'test' };
    this.accountId = (await modules.get(Onboarding).createAccount({ email: 'ann@example.com' }, credit)).id;
    this.keyId = (await modules.get(ApiKeyService).create({ accountId: this.accountId, name: 'k' })).id;
  }
}

/** What holds exactly so much. */
const amountOf = (nanos: bigint): Pick<AdmissionRequest, 'prompt' | 'minimum' | 'base' | 'ceiling'> => ({
  prompt: '0',
  minimum: nanos.toString(),
  base: nanos.toString(),
  ceiling: nanos.toString(),
});

/** The row with which the process itself ends a call. */
export const finished = ({ stream, effort, ip, snapshot, ...request }: AdmissionRequest, cost: bigint): CallRow =>
  finishedRow(request, cost, { stream, effort, ip, snapshot });
