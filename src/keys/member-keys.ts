import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import { alikeForm, type OrganizationRole } from '../auth/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { AppError, Clock, newId } from '../platform/shared/index.js';

/** Whose keys of an organization. */
export type KeysOf = { readonly memberId: string } | { readonly teamId: string };

/** Who gets the keys of a member: another one, or nobody, which makes them service keys of the organization. */
export interface NewHolder {
  readonly memberId: string;
  readonly teamId: string | null;
}

/** Locks keys before they are written, in the order in which calls lock them. */
const LOCK = (column: 'member_id' | 'team_id'): string =>
  `SELECT id FROM api_keys WHERE ${column} = $1 AND state <> 'deleted' ORDER BY id FOR UPDATE`;

const CHANGE = (assignments: string): string =>
  `UPDATE api_keys SET ${assignments}, version = version + 1 WHERE id = ANY ($1::text[])`;

/**
 * Keys of members and teams, when these change. Each key gets a new version and all processes are notified on commit:
 * admission refuses callers with an older version, so that no call uses what no longer holds.
 */
@Injectable()
export class MemberKeys {
  constructor(private readonly notifications: Notifications) {}

  /** After a change of the member or team that decides what the keys may do. @returns number of keys */
  invalidate(keys: KeysOf, manager: EntityManager): Promise<number> {
    return this.change(keys, 'state = state', [], manager);
  }

  /** Of a member who leaves: if they return, their keys are of the team they have then. */
  disable(memberId: string, manager: EntityManager): Promise<number> {
    return this.change({ memberId }, `state = 'disabled', team_id = NULL`, [], manager);
  }

  /** Service keys keep the team, so that they are not less limited than before. @param to null: service keys */
  handOver(memberId: string, to: NewHolder | null, manager: EntityManager): Promise<number> {
    return to === null
      ? this.change({ memberId }, 'member_id = NULL', [], manager)
      : this.change({ memberId }, 'member_id = $2, team_id = $3', [to.memberId, to.teamId], manager);
  }

  /** @param teamId null: none */
  moveToTeam(keys: KeysOf, teamId: string | null, manager: EntityManager): Promise<number> {
    return this.change(keys, 'team_id = $2', [teamId], manager);
  }

  private async change(
    keys: KeysOf,
    assignments: string,
    values: readonly unknown[],
    manager: EntityManager,
  ): Promise<number> {
    const [column, holder] =
      'memberId' in keys ? (['member_id', keys.memberId] as const) : (['team_id', keys.teamId] as const);
    const rows = await manager.query<{ id: string }[]>(LOCK(column), [holder]);
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await manager.query(CHANGE(assignments), [ids, ...values]);
    for (const id of ids) await this.notifications.publish(TOPICS.key, { id }, manager);
    return ids.length;
  }
}

/** An owner's account cannot be deleted while their organizations exist. */
export class OwnsOrganizations extends AppError {
  constructor(names: readonly string[]) {
    super(
      'conflict',
      `This account owns ${names.map((name) => `“${name}”`).join(', ')}. Transfer the ownership, or delete the organization, first.`,
    );
  }
}

/** As organizations are locked by changes of their own, in a fixed order. */
const LOCK_OWN = `
  SELECT FROM accounts WHERE id IN (SELECT organization_id FROM members WHERE account_id = $1 AND state = 'active')
   ORDER BY id FOR NO KEY UPDATE`;
/** After the lock: a statement that waits for one does not see what was committed meanwhile, such as a new owner. */
const OWN = `
  SELECT m.id, m.role, m.role_source AS "roleSource", o.name
    FROM members m JOIN accounts o ON o.id = m.organization_id
   WHERE m.account_id = $1 AND m.state = 'active' AND o.state <> 'deleted' ORDER BY o.id`;

/**
 * The team is part of the membership; a role is assigned again when the person returns. Claims of a provider do not
 * bring back who was removed.
 */
const END = `
  UPDATE members SET state = 'left', left_at = now(), role = 'member', role_source = 'manual', team_id = NULL,
         version = version + 1
   WHERE id = $1`;
/** Memberships that ended with the account: who was removed before stays removed, others may return as they came. */
const KEEP_SOURCE = 'UPDATE members SET role_source = $2 WHERE id = $1';
const REMEMBER = 'UPDATE members SET former_address = $2 WHERE account_id = $1';

interface OwnMembership {
  readonly id: string;
  readonly role: OrganizationRole;
  readonly roleSource: 'manual' | 'provider';
  readonly name: string;
}

const END_OFFER = 'UPDATE organizations SET offered_to = NULL, offered_at = NULL WHERE offered_to = $1';

interface NewMembership {
  readonly organizationId: string;
  readonly accountId: string;
  readonly role: string;
  /** Undefined: none. */
  readonly teamId: string | undefined;
  /** Name of the provider whose claims assign it; undefined: assigned by a person. */
  readonly provider: string | undefined;
}

/** New members get the defaults of the organization; those who return keep their budgets. Claims add none to a suspended one. */
const BEGIN = `
  INSERT INTO members AS m (id, organization_id, account_id, role, team_id, role_source, team_source, provider, quota,
    daily_budget, weekly_budget, monthly_budget, max_keys, joined_at)
  SELECT $1, o.id, $3, $4, $5, $6, $6, $7, o.quota, o.daily_budget, o.weekly_budget, o.monthly_budget, o.max_keys, $8
    FROM organizations o JOIN accounts a ON a.id = o.id AND (a.state = 'enabled' OR $6 = 'manual')
   WHERE o.id = $2
  ON CONFLICT ON CONSTRAINT member_is_unique DO UPDATE
     SET state = 'active', role = excluded.role, role_source = excluded.role_source, team_id = excluded.team_id,
         team_source = excluded.team_source, provider = excluded.provider, joined_at = excluded.joined_at,
         left_at = NULL, version = m.version + 1
   WHERE m.state = 'left'
  RETURNING id`;

/** The latest of several in one organization, unless the account has a membership there already. */
const ADOPT = `
  UPDATE members SET account_id = $1, former_address = NULL
   WHERE id IN (SELECT DISTINCT ON (m.organization_id) m.id FROM members m
                 WHERE m.former_address = $2
                   AND NOT EXISTS (SELECT FROM members n
                                    WHERE n.organization_id = m.organization_id AND n.account_id = $1)
                 ORDER BY m.organization_id, m.left_at DESC)`;
const VERIFIED_ADDRESS = 'SELECT email FROM accounts WHERE id = $1 AND verified_at IS NOT NULL';

/**
 * Begins and ends memberships. Calls and budgets stay when they end, and go on if the person returns, also with a new
 * account: otherwise, closing an account would renew its budgets. Callers have locked the organization.
 */
@Injectable()
export class Memberships {
  constructor(
    private readonly keys: MemberKeys,
    private readonly clock: Clock,
  ) {}

  /** @returns ID of the member; undefined: there is one already, or the organization is gone */
  async begin(membership: NewMembership, manager: EntityManager): Promise<string | undefined> {
    const { organizationId, accountId, role, teamId, provider } = membership;
    await this.adopt(accountId, manager);
    const now = this.clock.date();
    const source = provider === undefined ? 'manual' : 'provider';
    const values = [newId('mem', now.getTime()), organizationId, accountId, role, teamId ?? null, source];
    const [begun] = await manager.query<{ id: string }[]>(BEGIN, [...values, provider ?? null, now]);
    return begun?.id;
  }

  /** Takes over ended memberships of deleted accounts that had the account's verified address. */
  async adopt(accountId: string, manager: EntityManager): Promise<void> {
    const address = await formerAddress(accountId, manager);
    if (address !== undefined) await manager.query(ADOPT, [accountId, address]);
  }

  /** The caller has handed over the keys that are to stay usable. */
  async end(memberId: string, manager: EntityManager): Promise<void> {
    // First: it waits for keys that the member is creating, which are then disabled with the others.
    await manager.query(END, [memberId]);
    await this.keys.disable(memberId, manager);
    await manager.query(END_OFFER, [memberId]);
  }

  /** In the transaction that deletes the account. @throws OwnsOrganizations */
  async endAllOf(accountId: string, manager: EntityManager): Promise<void> {
    await manager.query(LOCK_OWN, [accountId]);
    const memberships = await manager.query<OwnMembership[]>(OWN, [accountId]);
    const owned = memberships.filter(({ role }) => role === 'owner').map(({ name }) => name);
    if (owned.length > 0) throw new OwnsOrganizations(owned);
    const address = await formerAddress(accountId, manager);
    for (const { id, roleSource } of memberships) {
      await this.end(id, manager);
      await manager.query(KEEP_SOURCE, [id, roleSource]);
    }
    if (address !== undefined) await manager.query(REMEMBER, [accountId, address]);
  }
}

async function formerAddress(accountId: string, manager: EntityManager): Promise<Buffer | undefined> {
  const [account] = await manager.query<{ email: string }[]>(VERIFIED_ADDRESS, [accountId]);
  return account && hash('sha256', alikeForm(account.email), 'buffer');
}
