import { AccountService, AccountStatus, termsRevision } from '../../src/auth/index.js';
import { Memberships } from '../../src/keys/index.js';
import { actingAs, COMMAND_LINE } from '../../src/platform/audit/index.js';
import { operatorVisit } from '../support/operator-visit.js';
import { useProvider } from '../support/provider-world.js';

const OVERAGE = {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: 'https://graph.example/me/getMemberObjects' } },
};

describe('what the claims of a provider assign', () => {
  const world = useProvider();
  const { account, arrive, email, register, rules, sql, visitor } = world;
  const accounts = (): AccountService => world.relay.get(AccountService);

  beforeAll(async () => {
    await operatorVisit(world.relay);
  });
  beforeEach(() => rules([]));

  const claims = (more: Record<string, unknown>): void => {
    world.idp.claims = { ...world.idp.claims, ...more };
  };
  const signIn = async (): Promise<void> => {
    const { location } = await arrive(visitor());
    expect(location).toBe('/');
  };
  const auditOf = async (id: string): Promise<unknown[]> =>
    sql(
      `SELECT actor_kind, lines, reason FROM audit_entries WHERE object_id = $1 AND actor_kind = 'system' ORDER BY id`,
      id,
    );
  const assigned = async () => {
    const { role, groupName } = await accounts().get(email());
    return { role, groupName };
  };
  /** The ID of the account of this test, which the user has signed in to with the claims. */
  const registered = async (): Promise<string> => {
    expect((await register(visitor())).location).toBe('/');
    return (await accounts().get(email())).id;
  };
  const GROUP = { value: 'saving', target: 'group', id: 'saver', label: 'group saver' } as const;

  it('is assigned when the account is created, and recorded', async () => {
    await rules([{}, GROUP]);
    claims({ groups: ['users', 'staff', 'saving'] });
    const id = await registered();
    expect(await assigned()).toEqual({ role: 'admin', groupName: 'saver' });
    const lines = ['role user → administrator', 'group default → saver'];
    expect(await auditOf(id)).toEqual([{ actor_kind: 'system', lines, reason: 'claims of Acme' }]);
  });

  it('follows the claims at each sign-in', async () => {
    await rules([{ claim: 'realm_access.roles', value: 'relay-admin' }, GROUP]);
    const id = await registered();
    expect(await assigned()).toEqual({ role: 'user', groupName: undefined });
    claims({ realm_access: { roles: ['relay-admin'] }, groups: 'saving' });
    await signIn();
    expect(await assigned()).toEqual({ role: 'admin', groupName: 'saver' });
    claims({ realm_access: { roles: [] }, groups: [] });
    await signIn();
    expect(await assigned()).toEqual({ role: 'user', groupName: undefined });
    expect(await auditOf(id)).toHaveLength(2);
    await signIn();
    expect(await auditOf(id)).toHaveLength(2);
  });

  it('is read from scopes that the provider needs for it', async () => {
    await rules([{ claim: 'staff', value: 'yes' }]);
    claims({ staff: 'yes' });
    await registered();
    expect((await assigned()).role).toBe('user');
    await rules([{ claim: 'staff', value: 'yes' }], 'staff');
    await signIn();
    expect((await assigned()).role).toBe('admin');
  });

  it('never replaces what a person has assigned', async () => {
    await rules([{}, GROUP]);
    claims({ groups: ['staff', 'saving'] });
    const id = await registered();
    await world.relay.get(AccountStatus).setRole(id, 'user');
    const terms = await accounts().byId(id);
    await accounts().setTerms(id, termsRevision(terms), { ...terms, groupName: undefined });
    await signIn();
    expect(await assigned()).toEqual({ role: 'user', groupName: undefined });
    await world.relay.get(AccountStatus).setRole(id, 'admin');
    claims({ groups: [] });
    await signIn();
    expect((await assigned()).role).toBe('admin');
    await world.relay.get(AccountStatus).setRole(id, 'user');
  });

  it('withdraws nothing that an administrator had before', async () => {
    await rules([{}, GROUP]);
    const id = await account({ role: 'admin', groupName: 'saver' });
    await sql(`INSERT INTO linked_identities (id, account_id, issuer, subject, linked_at) VALUES ($1, $1, $2, $3, now())`,
      id, world.idp.issuer, world.idp.subject); // prettier-ignore
    await signIn();
    expect(await assigned()).toEqual({ role: 'admin', groupName: 'saver' });
    expect(await auditOf(id)).toEqual([]);
    await world.relay.get(AccountStatus).setRole(id, 'user');
  });

  it('never demotes the last administrator', async () => {
    await rules([{}]);
    claims({ groups: ['staff'] });
    const id = await registered();
    await sql(`UPDATE accounts SET state = 'disabled' WHERE role = 'admin' AND id <> $1`, id);
    claims({ groups: [] });
    await signIn();
    expect((await assigned()).role).toBe('admin');
    await sql(`UPDATE accounts SET state = 'enabled' WHERE role = 'admin'`);
    await signIn();
    expect((await assigned()).role).toBe('user');
  });

  it('stays as it is while the provider leaves out groups of a user who is in too many', async () => {
    await rules([{}, GROUP]);
    claims({ groups: ['staff', 'saving'] });
    await registered();
    world.idp.claims = { ...OVERAGE, email: email(), email_verified: true };
    await signIn();
    expect(await assigned()).toEqual({ role: 'admin', groupName: 'saver' });
    world.idp.claims = { groups: [] };
    await signIn();
    expect(await assigned()).toEqual({ role: 'user', groupName: undefined });
    world.idp.claims = OVERAGE;
    await signIn();
    expect(await assigned()).toEqual({ role: 'user', groupName: undefined });
  });

  it('leaves the account as it is when the group is gone', async () => {
    await rules([{ ...GROUP, id: 'no-such-group' }]);
    claims({ groups: 'saving' });
    await registered();
    expect((await assigned()).groupName).toBeUndefined();
  });

  describe('in organizations', () => {
    let organization: string;
    let made = 0;
    const members = (): Promise<{ role: string; team: string | null; state: string }[]> =>
      sql(
        `SELECT m.role, m.team_id AS team, m.state FROM members m JOIN accounts a ON a.id = m.account_id
          WHERE a.email = $1 AND m.organization_id = $2`,
        email(),
        organization,
      );

    beforeEach(async () => {
      organization = `org_${++made}`;
      await sql(`INSERT INTO accounts (id, email, name, kind) VALUES ($1, $1 || '@organization.invalid', 'Acme', 'organization')`, organization); // prettier-ignore
      await sql(`INSERT INTO organizations (id, quota, max_keys) VALUES ($1, 7, 3)`, organization);
      await sql(`INSERT INTO teams (id, organization_id, name) VALUES ($1 || '_search', $1, 'Search')`, organization);
      await rules([
        {
          value: 'leads',
          target: 'organization',
          id: organization,
          detail: 'admin',
          label: 'organization Acme, admin',
        },
        { target: 'organization', id: organization, detail: 'member', label: 'organization Acme, member' },
        { value: 'search', target: 'team', id: organization, detail: `${organization}_search`, label: 'team Search' },
      ]);
    });

    it('adds members with the defaults, follows their claims, and lets them return', async () => {
      claims({ groups: ['staff'] });
      const id = await registered();
      expect(await members()).toEqual([{ role: 'member', team: null, state: 'active' }]);
      expect(await sql('SELECT quota::int, max_keys FROM members WHERE account_id = $1', id)).toEqual([
        { quota: 7, max_keys: 3 },
      ]);
      claims({ groups: ['leads', 'staff', 'search'] });
      await signIn();
      expect(await members()).toEqual([{ role: 'admin', team: `${organization}_search`, state: 'active' }]);
      claims({ groups: [] });
      await signIn();
      expect(await members()).toMatchObject([{ state: 'left' }]);
      claims({ groups: ['staff'] });
      await signIn();
      expect(await members()).toEqual([{ role: 'member', team: null, state: 'active' }]);
      const entries = await sql<{ action: string }>(
        `SELECT action FROM audit_entries WHERE object_kind = 'member' AND object_owner = $1 ORDER BY id`,
        organization,
      );
      expect(entries.map(({ action }) => action)).toEqual(['joined', 'changed', 'changed', 'removed', 'joined']);
    });

    it('does not bring back a member whom a person has removed', async () => {
      claims({ groups: ['staff'] });
      await registered();
      const [{ id } = { id: '' }] = await sql<{ id: string }>(
        'SELECT id FROM members WHERE organization_id = $1',
        organization,
      );
      await accounts().within((manager) => world.relay.get(Memberships).end(id, manager));
      await signIn();
      expect(await members()).toMatchObject([{ state: 'left' }]);
    });

    it('disables the keys of members who no longer belong', async () => {
      claims({ groups: ['staff'] });
      const id = await registered();
      await sql(
        `INSERT INTO api_keys (id, account_id, name, secret_hash, hint, member_id)
         SELECT 'key_' || m.id, m.organization_id, 'k', sha256(m.id::bytea), 'x', m.id FROM members m WHERE account_id = $1`,
        id,
      );
      claims({ groups: [] });
      await signIn();
      const keys = await sql(
        'SELECT k.state FROM api_keys k JOIN members m ON m.id = k.member_id WHERE m.account_id = $1',
        id,
      );
      expect(keys).toEqual([{ state: 'disabled' }]);
    });

    it('leaves manual members, owners and people who were removed as they are', async () => {
      const id = await registered();
      const add = (role: string, state: string, source: string): Promise<unknown> =>
        sql(
          `INSERT INTO members (id, organization_id, account_id, role, role_source, state, provider)
           VALUES ($1, $2, $3, $4, $5, $6, 'acme')
           ON CONFLICT (id) DO UPDATE SET role = $4, role_source = $5, state = $6`,
          `mem_${made}`,
          organization,
          id,
          role,
          source,
          state,
        );
      for (const groups of [['leads', 'search'], []]) {
        claims({ groups });
        for (const [role, state, source] of [
          ['viewer', 'active', 'manual'],
          ['viewer', 'left', 'manual'],
          ['owner', 'active', 'provider'],
        ] as const) {
          await add(role, state, source);
          await signIn();
          expect(await members()).toEqual([{ role, team: null, state }]);
        }
      }
    });

    it('changes nothing when the organization is suspended, or its claims are left out', async () => {
      await sql(`UPDATE accounts SET state = 'disabled' WHERE id = $1`, organization);
      claims({ groups: ['staff'] });
      await registered();
      expect(await members()).toEqual([]);
      await sql(`UPDATE accounts SET state = 'enabled' WHERE id = $1`, organization);
      await signIn();
      world.idp.claims = OVERAGE;
      await signIn();
      expect(await members()).toMatchObject([{ role: 'member', state: 'active' }]);
    });
  });

  it('is withdrawn at the next sign-in when its rule is deleted', async () => {
    await rules([{}]);
    claims({ groups: ['staff'] });
    await registered();
    await actingAs(COMMAND_LINE, () => rules([]));
    const [entry] = await sql(
      `SELECT lines FROM audit_entries WHERE object_id = 'sign-in provider acme' ORDER BY id DESC LIMIT 1`,
    );
    expect(entry).toEqual({ lines: ['rule removed: groups = staff: administrator'] });
    await signIn();
    expect((await assigned()).role).toBe('user');
  });
});
