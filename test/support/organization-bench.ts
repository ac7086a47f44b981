/** An organization with its owner, and calls of its keys, on a database of the test's own. */

import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { actingAs, AuditModule } from '../../src/platform/audit/index.js';
import { Config, ConfigModule } from '../../src/platform/config/index.js';
import { DatabaseModule } from '../../src/platform/database/index.js';
import { Clock, parseUsd } from '../../src/platform/shared/index.js';
import { ApiKeyService, KeyAuthenticator, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import {
  type AssignableRole,
  MemberInvitations,
  Members,
  Organizations,
  OrganizationsModule,
  Teams,
} from '../../src/keys/organizations/index.js';
import type { AdmissionRequest, AdmissionResult } from '../../src/relay/billing/admission.js';
import { BillingRepository } from '../../src/relay/billing/billing.repository.js';
import { BillingModule } from '../../src/relay/billing/index.js';
import { LedgerCheck, WalletModule, WalletService } from '../../src/wallet/index.js';
import { admissionOf, finished } from './billing-rows.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { HeldClock } from './held-clock.js';
import { Mailbox } from './mailbox.js';
import { testingModule } from './modules.js';

const IP = '192.0.2.1';

/** A user who works in the organization. */
export interface BenchMember {
  readonly id: string;
  readonly memberId: string;
  readonly accountId: string;
  readonly email: string;
}

export interface BenchKey {
  readonly id: string;
  readonly secret: string;
}

export class OrganizationBench {
  static async start(): Promise<OrganizationBench> {
    const [database, mailbox] = await Promise.all([freshDatabase(), Mailbox.open()]);
    const clock = new HeldClock();
    const config = Config.fromEnvironment({
      DATABASE_URL: database.url,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      SMTP_URL: mailbox.url,
      PUBLIC_URL: 'http://relay.test',
    });
    const parts = [BillingModule, WalletModule, KeysModule, OnboardingModule, OrganizationsModule];
    const imports = [ConfigModule, DatabaseModule, AuditModule, ...parts];
    const app = await testingModule(config, { imports }, (builder) => builder.overrideProvider(Clock).useValue(clock));
    const bench = new OrganizationBench(database, await app.init(), mailbox, clock);
    bench.owner = await bench.found('ann@example.com', 'Acme');
    await app.get(WalletService).credit(bench.owner.id, parseUsd('1'), 'test');
    return bench;
  }

  owner!: BenchMember;

  private constructor(
    readonly database: TestDatabase,
    readonly app: TestingModule,
    readonly mailbox: Mailbox,
    readonly clock: HeldClock,
  ) {}

  async stop(): Promise<void> {
    await this.app.close();
    await this.mailbox.close();
    await this.database.drop();
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.app.get(DataSource).query<Row[]>(text, [...values]);
  }

  async account(email: string): Promise<string> {
    return (await this.app.get(Onboarding).createAccount({ email, verified: true })).id;
  }

  /** A new user with an organization. */
  async found(email: string, name: string): Promise<BenchMember> {
    const accountId = await this.account(email);
    const id = await this.app.get(Organizations).create({ accountId, isAdministrator: false }, name);
    return this.memberOf(id, accountId, email);
  }

  /** A new user who was invited, and accepted. */
  async join(email: string, role: AssignableRole = 'member', teamId?: string): Promise<BenchMember> {
    const accountId = await this.account(email);
    return this.rejoin({ accountId, email }, role, teamId);
  }

  async rejoin(
    { accountId, email }: Pick<BenchMember, 'accountId' | 'email'>,
    role: AssignableRole = 'member',
    teamId?: string,
  ): Promise<BenchMember> {
    const invitations = this.app.get(MemberInvitations);
    // IDs sort by milliseconds, and lists by ID.
    this.clock.pass(0.001);
    await invitations.invite(this.owner, { email, role, teamId }, IP);
    const [invitation] = await invitations.waitingFor({ email, verified: true });
    await invitations.accept({ accountId, email, verified: true }, invitation!.id);
    return this.memberOf(this.owner.id, accountId, email);
  }

  /** Runs as this member, as their pages do. */
  as<T>(member: BenchMember, work: () => Promise<T>): Promise<T> {
    return actingAs({ kind: 'account', accountId: member.accountId, name: member.email, ip: IP }, work);
  }

  member(member: BenchMember): ReturnType<Members['get']> {
    return this.app.get(Members).get(member.id, member.memberId);
  }

  team(settings: Partial<Parameters<Teams['create']>[1]> = {}): Promise<string> {
    const any = { models: undefined, groups: undefined, networks: undefined, budgets: NO_LIMITS };
    return this.app.get(Teams).create(this.owner, { name: 'Research', ...any, ...settings });
  }

  /** A key of a member; without one, a service key. */
  async key(member?: BenchMember, teamId?: string): Promise<BenchKey> {
    const { id, secret } = await this.app.get(ApiKeyService).create({ accountId: this.owner.id, name: 'k' });
    const sql =
      'UPDATE api_keys SET member_id = $2, team_id = coalesce($3, (SELECT team_id FROM members WHERE id = $2)) WHERE id = $1';
    await this.query(sql, [id, member?.memberId ?? null, teamId ?? null]);
    return { id, secret: secret.reveal() };
  }

  /** Admits a call that holds this many nano-dollars, as the caller of a process that has read the key just now. */
  async admit(key: BenchKey, amount: bigint, overrides: Partial<AdmissionRequest> = {}): Promise<AdmissionResult> {
    const [{ version } = { version: 1 }] = await this.query<{ version: number }>(
      'SELECT version FROM api_keys WHERE id = $1',
      [key.id],
    );
    this.last = admissionOf({ accountId: this.owner.id, keyId: key.id }, amount, {
      key_version: version,
      ...overrides,
    });
    const [result] = await this.app.get(BillingRepository, { strict: false }).admit([this.last]);
    return result!;
  }

  /** Admits and settles a call that costs this many nano-dollars. */
  async spend(key: BenchKey, cost: bigint): Promise<void> {
    expect(await this.admit(key, cost)).toMatchObject({ outcome: 'admitted' });
    await this.settle(cost);
  }

  /** Settles the call that was admitted last. */
  async settle(cost: bigint): Promise<void> {
    await this.app.get(BillingRepository, { strict: false }).settle([finished(this.last!, cost)]);
  }

  /** Whether a client gets through with the key, and why not. */
  use(key: BenchKey): Promise<unknown> {
    const candidates = { candidates: [key.secret], error: undefined };
    return this.app.get(KeyAuthenticator).authenticate(candidates, IP);
  }

  async audited(): Promise<string[]> {
    const rows = await this.query<{ line: string }>(
      `SELECT concat_ws(' ', actor_name, action, object_kind, object_name, array_to_string(lines, ', ')) AS line
         FROM audit_entries ORDER BY id`,
    );
    return rows.map(({ line }) => line.trimEnd());
  }

  async isExact(): Promise<void> {
    await expect(this.app.get(LedgerCheck).run()).resolves.toEqual({ exact: true, differences: [] });
  }

  private last: AdmissionRequest | undefined;

  private async memberOf(id: string, accountId: string, email: string): Promise<BenchMember> {
    const sql = `SELECT id FROM members WHERE organization_id = $1 AND account_id = $2 AND state = 'active'`;
    const [member] = await this.query<{ id: string }>(sql, [id, accountId]);
    return { id, memberId: member!.id, accountId, email };
  }
}

export const NO_LIMITS = { lifetime: undefined, daily: undefined, weekly: undefined, monthly: undefined };
