import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import type { AdmissionRequest, AdmissionResult } from '../../src/relay/billing/admission.js';
import { BillingRepository } from '../../src/relay/billing/billing.repository.js';
import type { CallRow } from '../../src/relay/billing/call-row.js';
import { BillingModule } from '../../src/relay/billing/index.js';
import { ApiKeyService, KeysModule, type NewApiKey } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import {
  AllowanceCalendar,
  LedgerCheck,
  type LedgerReport,
  type WalletBalance,
  WalletModule,
  WalletService,
} from '../../src/wallet/index.js';
import { ShiftedCalendar } from './allowance-calendar.js';
import { admissionOf } from './billing-rows.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { startOn } from './modules.js';

export const EXACT: LedgerReport = { exact: true, differences: [] };

/** Billing on a database of its own, with one account that has a dollar and one key. */
export class BillingBench {
  static async start(): Promise<BillingBench> {
    const database = await freshDatabase();
    const app = await startOn(database, [BillingModule, WalletModule, KeysModule, OnboardingModule], (builder) =>
      builder.overrideProvider(AllowanceCalendar).useClass(ShiftedCalendar),
    );
    const { accountId, keyId } = await addAccount(app, 'ann@example.com');
    return new BillingBench(database, app, accountId, keyId);
  }

  readonly repository: BillingRepository;
  readonly sql: DataSource;
  /** The month that allowances are given for. */
  readonly calendar: ShiftedCalendar;

  private constructor(
    readonly database: TestDatabase,
    readonly app: TestingModule,
    readonly accountId: string,
    readonly keyId: string,
  ) {
    this.repository = app.get(BillingRepository, { strict: false });
    this.sql = app.get(DataSource);
    this.calendar = app.get<AllowanceCalendar, ShiftedCalendar>(AllowanceCalendar, { strict: false });
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.database.drop();
  }

  /** A call that wants to hold exactly so much, unless said otherwise. */
  asking(amount: bigint, overrides: Partial<AdmissionRequest> = {}): AdmissionRequest {
    return admissionOf(this, amount, overrides);
  }

  /** An admitted call that holds exactly so much. */
  async opened(amount: bigint, overrides: Partial<AdmissionRequest> = {}): Promise<AdmissionRequest> {
    const request = this.asking(amount, overrides);
    expect(await this.admit(request)).toMatchObject({ outcome: 'admitted', hold: amount });
    return request;
  }

  async admit(request: AdmissionRequest): Promise<AdmissionResult> {
    const [result] = await this.repository.admit([request]);
    return result!;
  }

  async settle(row: CallRow): Promise<bigint | undefined> {
    const [collected] = await this.repository.settle([row]);
    return collected;
  }

  account(email: string): Promise<{ accountId: string; keyId: string }> {
    return addAccount(this.app, email);
  }

  async key(limits: Omit<NewApiKey, 'accountId' | 'name'>): Promise<string> {
    return (await this.app.get(ApiKeyService).create({ accountId: this.accountId, name: 'k', ...limits })).id;
  }

  wallet(accountId = this.accountId): Promise<WalletBalance> {
    return this.app.get(WalletService).balanceOf(accountId);
  }

  check(): Promise<LedgerReport> {
    return this.app.get(LedgerCheck).run();
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.sql.query<Row[]>(text, [...values]);
  }
}

async function addAccount(app: TestingModule, email: string): Promise<{ accountId: string; keyId: string }> {
  const { id } = await app.get(Onboarding).createAccount({ email }, { amount: parseUsd('1'), reason: 'test' });
  return { accountId: id, keyId: (await app.get(ApiKeyService).create({ accountId: id, name: 'k' })).id };
}
