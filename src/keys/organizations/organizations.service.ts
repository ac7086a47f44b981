import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { OrganizationNotFound, type OrganizationRole, Throttle, type Visitor } from '../../auth/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Clock, newId } from '../../platform/shared/index.js';
import { WalletService } from '../../wallet/index.js';
import { possibleBudgets } from '../index.js';
import { AccountDeletion, type OpeningCredit } from '../onboarding/index.js';
import { MemberWriter } from './member-writer.js';
import {
  type ActingMember,
  countFact,
  differences,
  limitFacts,
  limitsOf,
  type OrganizationChange,
  OrganizationChanges,
} from './organization-changes.js';
import {
  CreationRestricted,
  type LimitRow,
  LIMIT_COLUMNS,
  type MemberDefaults,
  MemberNotFound,
  NoOffer,
  type Organization,
  type OwnOrganization,
  possibleMaxKeys,
  possibleName,
} from './organization.js';

/** Who creates an organization and becomes its owner. */
type Founder = Pick<Visitor, 'accountId' | 'isAdministrator'>;

interface NewOrganization {
  /** ID of an account. */
  readonly ownerId: string;
  readonly name: string;
  readonly credit?: OpeningCredit | undefined;
}

interface OpenedOrganization {
  readonly id: string;
  /** Of the member who owns it. */
  readonly ownerId: string;
}

const CREATE_ACCOUNT = `
  INSERT INTO accounts (id, email, name, kind, verified_at) VALUES ($1, $2, $3, 'organization', $4)`;
const CREATE_OWNER = `INSERT INTO members (id, organization_id, account_id, role, joined_at) VALUES ($1, $2, $3, 'owner', $4)`;

const FIND = `
  SELECT o.id, a.name, o.created_at AS "createdAt", ${LIMIT_COLUMNS('o')}, o.max_keys AS "maxKeys",
         o.offered_to AS "offeredTo", o.offered_at AS "offeredAt", p.email AS "offeredEmail"
    FROM organizations o JOIN accounts a ON a.id = o.id
    LEFT JOIN members m ON m.id = o.offered_to AND m.state = 'active' LEFT JOIN accounts p ON p.id = m.account_id
   WHERE o.id = $1 AND a.state <> 'deleted'`;

const OF_ACCOUNT = `
  SELECT o.id, a.name, m.role, m.joined_at AS "joinedAt", coalesce(o.offered_to = m.id, false) AS "isOffered",
         (SELECT count(*)::int FROM members n WHERE n.organization_id = o.id AND n.state = 'active') AS members
    FROM members m JOIN organizations o ON o.id = m.organization_id JOIN accounts a ON a.id = o.id
   WHERE m.account_id = $1 AND m.state = 'active' AND a.state = 'enabled' ORDER BY lower(a.name), o.id`;

const SET_DEFAULTS = `
  UPDATE organizations SET quota = $2, daily_budget = $3, weekly_budget = $4, monthly_budget = $5, max_keys = $6
   WHERE id = $1`;
const OFFER = 'UPDATE organizations SET offered_to = $2, offered_at = $3 WHERE id = $1';
const SET_ROLE = `UPDATE members SET role = $2, role_source = 'manual', version = version + 1 WHERE id = $1`;

interface OrganizationDetails extends LimitRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly maxKeys: number | null;
  readonly offeredTo: string | null;
  readonly offeredAt: Date | null;
  readonly offeredEmail: string | null;
}

/** Organizations: creation with a wallet, settings, ownership, deletion. */
@Injectable()
export class Organizations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: OrganizationChanges,
    private readonly wallets: WalletService,
    private readonly deletion: AccountDeletion,
    private readonly throttle: Throttle,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly members: MemberWriter,
  ) {}

  /** Whether a user may create one. */
  mayCreate({ isAdministrator }: Pick<Founder, 'isAdministrator'>): boolean {
    return isAdministrator || this.settings.current().organizations.creation === 'everyone';
  }

  /**
   * Creates an organization with its wallet, owned by `founder`, atomically.
   * @returns its ID
   * @throws CreationRestricted, TooManyAttempts, InvalidName
   */
  async create(founder: Founder, typed: string): Promise<string> {
    if (!this.mayCreate(founder)) throw new CreationRestricted();
    await this.throttle.spend('organization-of-account', founder.accountId);
    return (await this.open({ ownerId: founder.accountId, name: typed })).id;
  }

  /** In the name of a user, for administrators of the service. @throws InvalidName, InvalidAmount */
  async open({ ownerId, name: typed, credit }: NewOrganization, manager?: EntityManager): Promise<OpenedOrganization> {
    const name = possibleName('organization', typed);
    const now = this.clock.date();
    const [id, memberId] = [newId('org', now.getTime()), newId('mem', now.getTime())];
    const open = async (within: EntityManager): Promise<OpenedOrganization> => {
      // `.invalid` addresses never receive mail.
      await within.query(CREATE_ACCOUNT, [id, `${id}@organization.invalid`, name, now]);
      await within.query('INSERT INTO organizations (id, created_at) VALUES ($1, $2)', [id, now]);
      await this.wallets.create(id, within);
      await within.query(CREATE_OWNER, [memberId, id, ownerId, now]);
      const change = { organization: { id }, manager: within };
      await this.changes.record({ kind: 'organization', id, name }, change, 'created');
      if (credit) await this.wallets.credit(id, credit.amount, credit.reason, within);
      return { id, ownerId: memberId };
    };
    return manager ? open(manager) : this.dataSource.transaction(open);
  }

  /** @throws OrganizationNotFound */
  async get(id: string): Promise<Organization> {
    const [row] = await this.dataSource.query<OrganizationDetails[]>(FIND, [id]);
    if (row === undefined) throw new OrganizationNotFound();
    const { offeredTo, offeredAt, offeredEmail } = row;
    return {
      id: row.id,
      name: row.name,
      createdAt: row.createdAt,
      defaults: { budgets: limitsOf(row), maxKeys: row.maxKeys ?? undefined },
      offer:
        offeredTo === null || offeredAt === null || offeredEmail === null
          ? undefined
          : { memberId: offeredTo, email: offeredEmail, at: offeredAt },
    };
  }

  /** Those that a user belongs to, by name. */
  of(accountId: string): Promise<readonly OwnOrganization[]> {
    return this.dataSource.query<OwnOrganization[]>(OF_ACCOUNT, [accountId]);
  }

  /** @throws InvalidName, NotPermitted */
  async rename(by: ActingMember, typed: string): Promise<void> {
    const name = possibleName('organization', typed);
    await this.changes.run(by, 'manage organization', async (change) => {
      const { id, name: before } = change.organization;
      await change.manager.query('UPDATE accounts SET name = $2 WHERE id = $1', [id, name]);
      await this.changes.record(objectOf(change), change, 'changed', differences([['name', before, name]]));
    });
  }

  /** For members who join later. @throws BudgetNotPossible, NotPermitted, and an error for an impossible number of keys */
  async setDefaults(by: ActingMember, { budgets, maxKeys }: MemberDefaults): Promise<void> {
    const { lifetime, daily, weekly, monthly } = possibleBudgets(budgets);
    const keys = possibleMaxKeys(maxKeys);
    await this.changes.run(by, 'manage organization', async (change) => {
      const { organization, manager } = change;
      await manager.query(SET_DEFAULTS, [organization.id, lifetime, daily, weekly, monthly, keys]);
      const facts = [...limitFacts(limitsOf(organization), budgets), countFact('max keys', organization.maxKeys, keys)];
      const lines = differences(facts).map((line) => `new members: ${line}`);
      await this.changes.record(objectOf(change), change, 'changed', lines);
    });
  }

  /**
   * Offers the ownership to a member; an earlier offer is replaced. Nothing changes until they accept.
   * @throws MemberNotFound, NotPermitted
   */
  offer(by: ActingMember, memberId: string): Promise<void> {
    return this.changes.run(by, 'own organization', async (change) => {
      const { organization, manager } = change;
      const member = await this.changes.member(organization.id, memberId, manager);
      if (member === undefined || member.role === 'owner') throw new MemberNotFound();
      await manager.query(OFFER, [organization.id, memberId, this.clock.date()]);
      await this.changes.record(objectOf(change), change, 'offered', [`ownership to ${member.email}`]);
    });
  }

  /** Idempotent. @throws NotPermitted */
  withdrawOffer(by: ActingMember): Promise<void> {
    return this.changes.run(by, 'own organization', (change) => this.endOffer(change, 'withdrew the offer of'));
  }

  /** @throws NoOffer */
  declineOffer(by: ActingMember): Promise<void> {
    return this.changes.run(by, undefined, async (change) => {
      if (change.organization.offeredTo !== change.actor?.id) throw new NoOffer();
      await this.endOffer(change, 'declined the offer of');
    });
  }

  /** The acting member becomes the owner, and the previous owner an admin. @throws NoOffer */
  acceptOffer(by: ActingMember): Promise<void> {
    return this.changes.run(by, undefined, async (change) => {
      const { organization, actor, manager } = change;
      if (actor === undefined || organization.offeredTo !== actor.id) throw new NoOffer();
      const owner = await this.ownerOf(organization.id, manager);
      // In this order: there is one owner at any time.
      if (owner !== undefined) await manager.query(SET_ROLE, [owner.id, 'admin' satisfies OrganizationRole]);
      await manager.query(SET_ROLE, [actor.id, 'owner' satisfies OrganizationRole]);
      await manager.query(OFFER, [organization.id, null, null]);
      const lines = differences([['owner', owner?.email ?? 'none', actor.email]]);
      await this.changes.record(objectOf(change), change, 'changed', lines);
    });
  }

  /**
   * Deletes an organization with its keys, and empties its wallet. Its calls and ledger entries stay.
   * @throws WalletInUse while calls run, NotPermitted
   */
  async delete(by: ActingMember): Promise<void> {
    await this.deletion.run(by.id, 'Organization deleted', (manager) =>
      this.changes.run(
        by,
        'own organization',
        async (change) => {
          const { id } = change.organization;
          await manager.query(OFFER, [id, null, null]);
          await this.members.endAll(id, manager);
        },
        manager,
      ),
    );
  }

  private async endOffer(change: OrganizationChange, action: string): Promise<void> {
    const { organization, manager } = change;
    if (organization.offeredTo === null) return;
    await manager.query(OFFER, [organization.id, null, null]);
    await this.changes.record(objectOf(change), change, action, ['ownership']);
  }

  private async ownerOf(id: string, manager: EntityManager): Promise<{ id: string; email: string } | undefined> {
    const sql = `SELECT m.id, a.email FROM members m JOIN accounts a ON a.id = m.account_id
                  WHERE m.organization_id = $1 AND m.role = 'owner' AND m.state = 'active'`;
    const [owner] = await manager.query<{ id: string; email: string }[]>(sql, [id]);
    return owner;
  }
}

const objectOf = ({ organization: { id, name } }: OrganizationChange) => ({ kind: 'organization', id, name }) as const;
