import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { OrganizationRole } from '../../src/auth/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { Notifications, TOPICS } from '../../src/platform/database/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { PageVisitor } from './page-visitor.js';
import type { RelayApp } from './relay-app.js';
import { signedIn } from './signed-in.js';

/** A member in a browser that is signed in, in the scope of the organization. */
export interface TestMember {
  readonly accountId: string;
  readonly email: string;
  readonly memberId: string;
  readonly browser: PageVisitor;
}

/** An organization with money, written to the database as it is there. */
export async function anOrganization(relay: RelayApp, name: string, credit = '10'): Promise<string> {
  const id = `org_${randomBytes(16).toString('hex')}`;
  await relay.get(DataSource).transaction(async (manager) => {
    await manager.query(
      `INSERT INTO accounts (id, email, name, kind, verified_at) VALUES ($1, $2, $3, 'organization', now())`,
      [id, `${id}@organization.invalid`, name],
    );
    await manager.query('INSERT INTO organizations (id) VALUES ($1)', [id]);
    await relay.get(WalletService).create(id, manager);
    await relay.get(WalletService).credit(id, parseUsd(credit), `opening credit of ${name}`, manager);
  });
  return id;
}

/** Makes an account, or the given one, a member. @returns the ID of the membership */
export async function join(
  relay: RelayApp,
  organizationId: string,
  accountId: string,
  role: OrganizationRole,
  teamId: string | null = null,
): Promise<string> {
  const id = `mem_${randomBytes(16).toString('hex')}`;
  await relay
    .get(DataSource)
    .query('INSERT INTO members (id, organization_id, account_id, role, team_id) VALUES ($1, $2, $3, $4, $5)', [
      id,
      organizationId,
      accountId,
      role,
      teamId,
    ]);
  return id;
}

/** Somebody new, with this role and name. */
export async function aMember(
  relay: RelayApp,
  organizationId: string,
  role: OrganizationRole,
  name = role as string,
): Promise<TestMember> {
  const { accountId, email } = await relay.caller();
  await relay.get(DataSource).query('UPDATE accounts SET name = $2 WHERE id = $1', [accountId, name]);
  const memberId = await join(relay, organizationId, accountId, role);
  const browser = await signedIn(relay, accountId);
  await switchTo(browser, organizationId);
  return { accountId, email, memberId, browser };
}

/** Works in the organization from now on; empty: in their own account. */
export async function switchTo(browser: PageVisitor, organization: string): Promise<void> {
  const response = await browser.submit('/account', { organization }, '/scope');
  expect({ status: response.status, location: response.location }).toEqual({ status: 303, location: '/' });
}

/** A key of the member; without one, a service key. */
export async function aKeyOf(
  relay: RelayApp,
  organizationId: string,
  name: string,
  memberId?: string,
  teamId?: string,
): Promise<{ id: string; secret: string }> {
  const { id, secret } = await relay.get(ApiKeyService).create({ accountId: organizationId, name, memberId, teamId });
  return { id, secret: secret.reveal() };
}

/** The person is no member from now on; all processes know it. */
export async function leave(relay: RelayApp, memberId: string): Promise<void> {
  await relay.get(DataSource).transaction(async (manager) => {
    const [[left]] = await manager.query<[[{ id: string }]]>(
      `UPDATE members SET state = 'left', left_at = now(), role = 'member' WHERE id = $1 RETURNING organization_id AS id`,
      [memberId],
    );
    await relay.get(Notifications).publish(TOPICS.account, left, manager);
  });
}
