import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { allows, OrganizationNotFound, type OrganizationRole, type Permission } from '../../auth/index.js';
import { type AuditEntry, AuditLog } from '../../platform/audit/index.js';
import { formatUsd, nanos, type Nanos } from '../../platform/shared/index.js';
import { type BudgetChange, type BudgetLimits, MEMBER_BUDGET_NAMES, type MemberBudgetName } from '../index.js';
import { type LimitRow, LIMIT_COLUMNS, NotPermitted } from './organization.js';

/** Who changes an organization. */
export interface ActingMember {
  /** ID of the organization. */
  readonly id: string;
  /** Undefined: an administrator of the service, who may do what its owner may. */
  readonly memberId: string | undefined;
}

/** An organization as locked. */
export interface OrganizationRow extends LimitRow {
  readonly id: string;
  readonly name: string;
  readonly maxKeys: number | null;
  readonly offeredTo: string | null;
}

/** A member as locked with its organization. */
export interface MemberRow extends LimitRow {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly role: OrganizationRole;
  readonly teamId: string | null;
  readonly maxKeys: number | null;
  readonly version: number;
}

/** A transaction that has locked an organization. */
export interface OrganizationChange {
  readonly manager: EntityManager;
  readonly organization: OrganizationRow;
  /** Undefined: an administrator of the service. */
  readonly actor: MemberRow | undefined;
}

/** The part of a change that its audit entry needs. */
interface RecordedIn extends Pick<OrganizationChange, 'manager'> {
  readonly organization: Pick<OrganizationRow, 'id'>;
}

/** Keeps changes of one organization in sequence; calls, which lock its wallet, go on. */
const LOCK = 'SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE';
/** After the lock: a statement that waits for one does not see what was committed meanwhile. */
const ORGANIZATION = `
  SELECT o.id, a.name, ${LIMIT_COLUMNS('o')}, o.max_keys AS "maxKeys", o.offered_to AS "offeredTo"
    FROM organizations o JOIN accounts a ON a.id = o.id WHERE o.id = $1 AND a.state <> 'deleted'`;

const MEMBER = `
  SELECT m.id, m.account_id AS "accountId", a.email, m.role, m.team_id AS "teamId", ${LIMIT_COLUMNS('m')},
         m.max_keys AS "maxKeys", m.version
    FROM members m JOIN accounts a ON a.id = m.account_id
   WHERE m.organization_id = $1 AND m.id = $2 AND m.state = 'active' AND a.state <> 'deleted'`;

/** Runs changes of organizations, and checks by the present role of who makes them that they may. */
@Injectable()
export class OrganizationChanges {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @param permission undefined: any member
   * @param manager transaction; its own if absent
   * @throws OrganizationNotFound, also when the acting member was removed meanwhile; NotPermitted
   */
  run<T>(
    by: ActingMember,
    permission: Permission | undefined,
    work: (change: OrganizationChange) => Promise<T>,
    manager?: EntityManager,
  ): Promise<T> {
    const change = async (within: EntityManager): Promise<T> => {
      const organization = await this.lock(by.id, within);
      const actor = by.memberId === undefined ? undefined : await this.member(by.id, by.memberId, within);
      if (by.memberId !== undefined && actor === undefined) throw new OrganizationNotFound();
      if (actor !== undefined && permission !== undefined && !allows(actor, permission)) throw new NotPermitted();
      return work({ manager: within, organization, actor });
    };
    return manager ? change(manager) : this.dataSource.transaction(change);
  }

  /** @throws OrganizationNotFound */
  async lock(id: string, manager: EntityManager): Promise<OrganizationRow> {
    await manager.query(LOCK, [id]);
    const [row] = await manager.query<OrganizationRow[]>(ORGANIZATION, [id]);
    if (row === undefined) throw new OrganizationNotFound();
    return row;
  }

  /** An active member; undefined if there is none. */
  async member(organizationId: string, id: string, manager: EntityManager): Promise<MemberRow | undefined> {
    const [row] = await manager.query<MemberRow[]>(MEMBER, [organizationId, id]);
    return row;
  }

  /** Without lines, only actions that are not `changed` are recorded. */
  async record(
    object: Pick<AuditEntry['object'], 'kind' | 'id' | 'name'>,
    { organization, manager }: RecordedIn,
    action: string,
    lines: readonly string[] = [],
  ): Promise<void> {
    if (action === 'changed' && lines.length === 0) return;
    const owner = object.kind === 'organization' ? {} : { owner: organization.id };
    await this.audit.record({ action, object: { ...object, ...owner }, lines }, manager);
  }
}

/** Limits by budget, as stored. */
export const storedLimits = (row: LimitRow): Readonly<Record<MemberBudgetName, Nanos | null>> => ({
  lifetime: amountIn(row.quota),
  daily: amountIn(row.dailyBudget),
  weekly: amountIn(row.weeklyBudget),
  monthly: amountIn(row.monthlyBudget),
});

export const limitsOf = (row: LimitRow): BudgetLimits => {
  const { lifetime, daily, weekly, monthly } = storedLimits(row);
  return {
    lifetime: lifetime ?? undefined,
    daily: daily ?? undefined,
    weekly: weekly ?? undefined,
    monthly: monthly ?? undefined,
  };
};

/** Limits as stored, with a change; what it does not name stays. */
export const changedBudgets = (row: LimitRow, change: BudgetChange<MemberBudgetName> = {}): BudgetLimits => {
  const before = limitsOf(row);
  const after = (name: MemberBudgetName): Nanos | undefined =>
    change[name] === undefined ? before[name] : (change[name] ?? undefined);
  return { lifetime: after('lifetime'), daily: after('daily'), weekly: after('weekly'), monthly: after('monthly') };
};

const amountIn = (text: string | null): Nanos | null => (text === null ? null : nanos(BigInt(text)));

/** A value of an audit entry that may have changed. */
type Fact = readonly [label: string, before: string, after: string];

/** `role member → admin` */
export const differences = (facts: readonly Fact[]): readonly string[] =>
  facts
    .filter(([, before, after]) => before !== after)
    .map(([label, before, after]) => `${label} ${before} → ${after}`);

/** Limits as facts of an audit entry. */
export const limitFacts = (before: BudgetLimits, after: BudgetLimits): readonly Fact[] =>
  MEMBER_BUDGET_NAMES.map((name) => [TITLES[name], dollars(before[name]), dollars(after[name])]);

export const countFact = (label: string, before: number | null, after: number | null): Fact => [
  label,
  before === null ? 'unlimited' : String(before),
  after === null ? 'unlimited' : String(after),
];

const TITLES: Readonly<Record<MemberBudgetName, string>> = {
  lifetime: 'total budget',
  daily: 'daily budget',
  weekly: 'weekly budget',
  monthly: 'monthly budget',
};

const dollars = (amount: Nanos | undefined): string => (amount === undefined ? 'none' : `$${formatUsd(amount)}`);
