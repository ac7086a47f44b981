import { AccountStatus, allows, ORGANIZATION_ROLES, type SignInProvider } from '../../src/auth/index.js';
import { OwnKeys } from '../../src/keys/index.js';
import { AccountDeletion } from '../../src/keys/onboarding/index.js';
import { MappedMemberships } from '../../src/keys/onboarding/mapped-memberships.js';
import { MembersReader, Members, Teams } from '../../src/keys/organizations/index.js';
import { nanos, parseUsd } from '../../src/platform/shared/index.js';
import { eventually } from '../support/eventually.js';
import { type BenchKey, type BenchMember, NO_LIMITS, OrganizationBench } from '../support/organization-bench.js';

describe('Members', () => {
  let bench: OrganizationBench;
  let members: Members;
  let owner: BenchMember;
  let bob: BenchMember;

  beforeEach(async () => {
    bench = await OrganizationBench.start();
    members = bench.app.get(Members);
    ({ owner } = bench);
    bob = await bench.join('bob@example.com');
  });
  afterEach(() => bench.stop());

  const limit = async (member: BenchMember, budgets: object, by = owner): Promise<void> => {
    const { version } = await bench.member(member);
    await members.setLimits(by, member.memberId, version, {
      budgets: { ...NO_LIMITS, ...budgets },
      maxKeys: undefined,
    });
  };
  /** A process that has read the key learns of the change, and an older caller is stale. */
  const isRefusedSoon = async (key: BenchKey, text: string | RegExp): Promise<void> => {
    await eventually(() => expect(bench.use(key)).rejects.toThrow(text), 1_000);
    await expect(bench.admit(key, 1n, { key_version: 1 })).resolves.not.toMatchObject({ outcome: 'admitted' });
  };

  it('have keys of their present team when they return to another one', async () => {
    const key = await bench.key(bob);
    await members.leave(bob);
    const budgets = { ...NO_LIMITS, lifetime: nanos(10n) };
    const teamId = await bench.team({ budgets });
    await bench.rejoin(bob, 'member', teamId);
    await bench.app.get(OwnKeys).enable({ accountId: bob.id, memberId: bob.memberId, id: key.id });
    await expect(bench.admit(key, 11n)).resolves.toMatchObject({ outcome: 'team', free: 10n });
    await members.leave(bob);
    await bench.rejoin(bob);
    await bench.app.get(OwnKeys).enable({ accountId: bob.id, memberId: bob.memberId, id: key.id });
    await expect(bench.admit(key, 11n)).resolves.toMatchObject({ outcome: 'admitted' });
  });

  describe('roles', () => {
    it('refuse to change the owner, one’s own role, and anything when the acting member may not manage', async () => {
      const admin = await bench.join('cara@example.com', 'admin');
      await expect(members.setRole(admin, owner.memberId, 'member')).rejects.toMatchObject({
        kind: 'permission_denied',
      });
      await expect(members.setRole(owner, owner.memberId, 'member')).rejects.toMatchObject({ kind: 'conflict' });
      await expect(members.setRole(admin, admin.memberId, 'viewer')).rejects.toMatchObject({
        kind: 'permission_denied',
      });
      await expect(members.setRole(bob, bob.memberId, 'admin')).rejects.toMatchObject({ kind: 'permission_denied' });
      await expect(members.remove(admin, owner.memberId, { kind: 'disable' })).rejects.toMatchObject({
        kind: 'permission_denied',
      });
      await expect(members.remove(owner, owner.memberId, { kind: 'disable' })).rejects.toMatchObject({
        kind: 'conflict',
      });
      await expect(members.leave(owner)).rejects.toMatchObject({ kind: 'conflict' });
      await expect(limit(owner, { daily: 1n }, admin)).rejects.toMatchObject({ kind: 'permission_denied' });
      await expect(bench.member(owner)).resolves.toMatchObject({
        role: 'owner',
        budgets: { daily: { limit: undefined } },
      });
    });

    it('are checked as they are now when a demoted admin still acts by an open page', async () => {
      const admin = await bench.join('cara@example.com', 'admin');
      await members.setRole(owner, admin.memberId, 'viewer');
      await expect(members.setRole(admin, bob.memberId, 'admin')).rejects.toMatchObject({ kind: 'permission_denied' });
    });

    it.each(ORGANIZATION_ROLES.filter((role) => role !== 'owner'))(
      'let keys make calls exactly when they may use keys: %s',
      async (role) => {
        const key = await bench.key(bob);
        await bench.use(key);
        const other = role === 'member' ? 'viewer' : role;
        await members.setRole(owner, bob.memberId, other);
        if (role === 'member') await members.setRole(owner, bob.memberId, 'member');
        const isAllowed = allows({ role }, 'use keys');
        if (isAllowed) {
          await eventually(() => expect(bench.use(key)).resolves.toMatchObject({ isMemberAllowed: true }), 1_000);
          await expect(bench.admit(key, 1n)).resolves.toMatchObject({ outcome: 'admitted' });
        } else {
          await isRefusedSoon(key, 'may not use keys of this organization');
          await expect(bench.admit(key, 1n)).resolves.toMatchObject({ outcome: 'account_state' });
        }
      },
    );

    it('are recorded with who changed them', async () => {
      await bench.as(owner, () => members.setRole(owner, bob.memberId, 'admin'));
      expect(await bench.audited()).toEqual(['ann@example.com changed member bob@example.com role member → admin']);
    });
  });

  describe('budgets', () => {
    it('refuse calls from the next one on when lowered, and admit them when raised', async () => {
      const key = await bench.key(bob);
      await bench.spend(key, 60n);
      await limit(bob, { daily: 100n });
      await expect(bench.admit(key, 41n)).resolves.toMatchObject({ outcome: 'member', period: 'day', free: 40n });
      await limit(bob, { daily: 101n, lifetime: 1_000n });
      await expect(bench.admit(key, 41n)).resolves.toMatchObject({ outcome: 'admitted' });
      await expect(bench.member(bob)).resolves.toMatchObject({
        budgets: {
          daily: { limit: 101n, used: 60n, held: 41n },
          lifetime: { limit: 1_000n, used: 60n, held: 41n, resetsAt: undefined },
          monthly: { limit: undefined, used: 60n, held: 41n },
        },
      });
      await bench.settle(41n);
      await bench.isExact();
    });

    it.each([
      [
        'daily',
        'A daily budget of $0.000000099 is not possible: $0.00000006 is used in this period and $0.00000004 is on hold',
      ],
      ['lifetime', 'A total budget of $0.000000099 is not possible: $0.00000006 is used and $0.00000004 is on hold'],
    ])('are not set below what is used and held: %s', async (name, text) => {
      const key = await bench.key(bob);
      await bench.spend(key, 60n);
      await bench.admit(key, 40n);
      await expect(limit(bob, { [name]: 99n, monthly: 500n })).rejects.toThrow(text);
      await expect(bench.member(bob)).resolves.toMatchObject({ budgets: { monthly: { limit: undefined } } });
      await limit(bob, { [name]: 100n });
    });

    it('hold exactly while they are lowered and calls are admitted at the same time', async () => {
      const key = await bench.key(bob);
      await limit(bob, { daily: 1_000n });
      const admitted = Array.from({ length: 30 }, () => bench.admit(key, 50n));
      const lowered = limit(bob, { daily: 500n }).catch((error: Error) => error.message);
      const outcomes = (await Promise.all(admitted)).map(({ outcome }) => outcome);
      await lowered;
      const { daily } = (await bench.member(bob)).budgets;
      const taken = BigInt(outcomes.filter((outcome) => outcome === 'admitted').length) * 50n;
      expect(daily.held).toBe(taken);
      expect(daily.held).toBeLessThanOrEqual(daily.limit ?? 0n);
      await bench.isExact();
    });

    it('are refused when they were changed meanwhile', async () => {
      const { version } = await bench.member(bob);
      await limit(bob, { daily: 5n });
      const stale = members.setLimits(owner, bob.memberId, version, { budgets: NO_LIMITS, maxKeys: undefined });
      await expect(stale).rejects.toMatchObject({ kind: 'conflict' });
    });

    it('name the members who used four fifths of one, and nobody else', async () => {
      const cara = await bench.join('cara@example.com');
      for (const member of [bob, cara]) await limit(member, { monthly: parseUsd('0.000001') });
      await bench.spend(await bench.key(bob), 800n);
      await bench.spend(await bench.key(cara), 799n);
      const near = await bench.app.get(MembersReader).nearLimit(owner.id);
      expect(near.map(({ email }) => email)).toEqual(['bob@example.com']);
    });
  });

  describe('leaving', () => {
    it('disables the keys within a second, also for a caller that a process has already read', async () => {
      const key = await bench.key(bob);
      await bench.use(key);
      await bench.as(owner, () => members.remove(owner, bob.memberId, { kind: 'disable' }));
      await isRefusedSoon(key, 'disabled');
      await expect(members.get(owner.id, bob.memberId)).rejects.toMatchObject({ kind: 'not_found' });
      expect(await bench.audited()).toEqual(['ann@example.com removed member bob@example.com keys disabled']);
    });

    it('hands the keys to another member, whose budget and team they then use', async () => {
      const teamId = await bench.team();
      const cara = await bench.join('cara@example.com', 'member', teamId);
      await limit(cara, { daily: 10n });
      const key = await bench.key(bob);
      await members.remove(owner, bob.memberId, { kind: 'to-member', memberId: cara.memberId });
      await expect(
        bench.query('SELECT member_id, team_id, state FROM api_keys WHERE id = $1', [key.id]),
      ).resolves.toEqual([{ member_id: cara.memberId, team_id: teamId, state: 'enabled' }]);
      await expect(bench.admit(key, 11n)).resolves.toMatchObject({ outcome: 'member' });
      await expect(bench.admit(key, 10n)).resolves.toMatchObject({ outcome: 'admitted' });
    });

    it('makes the keys service keys that are still limited to the team', async () => {
      const teamId = await bench.team();
      const cara = await bench.join('cara@example.com', 'member', teamId);
      const key = await bench.key(cara);
      await members.remove(owner, cara.memberId, { kind: 'to-organization' });
      await expect(bench.query('SELECT member_id, team_id FROM api_keys WHERE id = $1', [key.id])).resolves.toEqual([
        { member_id: null, team_id: teamId },
      ]);
      await expect(bench.admit(key, 10n)).resolves.toMatchObject({ outcome: 'admitted' });
    });

    it('refuses to hand keys to members of other organizations, and changes nothing', async () => {
      const stranger = await bench.found('eve@example.com', 'Other');
      const removal = members.remove(owner, bob.memberId, { kind: 'to-member', memberId: stranger.memberId });
      await expect(removal).rejects.toMatchObject({ kind: 'not_found' });
      await expect(bench.member(bob)).resolves.toMatchObject({ role: 'member' });
    });

    it('keeps the budgets for a member who returns', async () => {
      await limit(bob, { daily: 100n });
      await bench.spend(await bench.key(bob), 60n);
      await members.leave(bob);
      const again = await bench.rejoin(bob, 'viewer');
      expect(again.memberId).toBe(bob.memberId);
      await expect(bench.member(again)).resolves.toMatchObject({
        role: 'viewer',
        budgets: { daily: { limit: 100n, used: 60n } },
      });
    });

    it('keeps the budgets for a member who closes the account and returns with another one', async () => {
      await limit(bob, { daily: 100n });
      await bench.spend(await bench.key(bob), 60n);
      await bench.app.get(AccountDeletion).run(bob.accountId);
      const again = await bench.join('bob@example.com');
      expect(again.accountId).not.toBe(bob.accountId);
      await expect(bench.member(again)).resolves.toMatchObject({
        id: bob.memberId,
        budgets: { daily: { limit: 100n, used: 60n } },
      });
      await bench.isExact();
    });

    it('does not let claims bring back a removed member who opens another account', async () => {
      await members.remove(owner, bob.memberId, { kind: 'disable' });
      await bench.app.get(AccountDeletion).run(bob.accountId);
      const accountId = await bench.account(bob.email);
      const rule = {
        claim: 'groups',
        value: 'x',
        target: 'organization',
        id: owner.id,
        detail: 'member',
        label: 'Acme',
      } as const;
      const provider = { name: 'sso', label: 'SSO' } as SignInProvider;
      const user = { accountId, email: bob.email, provider };
      await bench.app.get(MappedMemberships, { strict: false }).apply(user, { assigned: [rule], unreadable: [] });
      await expect(bench.query('SELECT state FROM members WHERE account_id = $1', [accountId])).resolves.toEqual([
        { state: 'left' },
      ]);
    });
  });

  it('refuses the keys of a member within a second when their account is suspended', async () => {
    const key = await bench.key(bob);
    await bench.use(key);
    await bench.app.get(AccountStatus).disable(bob.accountId);
    await eventually(() => expect(bench.use(key)).rejects.toThrow('may not use keys of this organization'), 1_000);
    await expect(bench.admit(key, 1n)).resolves.toMatchObject({ outcome: 'account_state' });
    await bench.app.get(AccountStatus).enable(bob.accountId);
    await eventually(() => expect(bench.use(key)).resolves.toBeDefined(), 1_000);
  });

  it('lists members by page, text, role and team', async () => {
    const teamId = await bench.team();
    const cara = await bench.join('cara@example.com', 'billing', teamId);
    await bench.key(bob);
    const reader = bench.app.get(MembersReader);
    const emails = async (filter: object): Promise<string[]> =>
      (await reader.page(owner.id, filter, {})).members.map(({ email }) => email);
    await expect(emails({})).resolves.toEqual(['ann@example.com', 'bob@example.com', 'cara@example.com']);
    await expect(emails({ text: 'CARA' })).resolves.toEqual(['cara@example.com']);
    await expect(emails({ text: '%' })).resolves.toEqual([]);
    await expect(emails({ role: 'owner' })).resolves.toEqual(['ann@example.com']);
    await expect(emails({ teamId })).resolves.toEqual(['cara@example.com']);
    const after = await reader.page(owner.id, {}, { after: bob.memberId });
    expect(after).toMatchObject({
      members: [{ id: cara.memberId, team: { name: 'Research' } }],
      previous: true,
      next: false,
    });
    await expect(bench.member(bob)).resolves.toMatchObject({ keys: 1 });
  });

  describe('teams', () => {
    it('narrow keys within a second when a member is moved or the team is changed', async () => {
      const teams = bench.app.get(Teams);
      const key = await bench.key(bob);
      await expect(bench.use(key)).resolves.toMatchObject({ models: undefined });
      const teamId = await bench.team({ models: ['small'] });
      await members.setTeam(owner, bob.memberId, teamId);
      await eventually(() => expect(bench.use(key)).resolves.toMatchObject({ models: new Set(['small']) }), 1_000);
      const { version } = await teams.get(owner.id, teamId);
      const settings = { name: 'Research', models: ['large'], groups: undefined, networks: ['203.0.113.0/24'] };
      await teams.update(owner, teamId, version, { ...settings, budgets: NO_LIMITS });
      await eventually(() => expect(bench.use(key)).rejects.toThrow('192.0.2.1 is not allowed'), 1_000);
      await teams.delete(owner, teamId);
      await eventually(() => expect(bench.use(key)).resolves.toMatchObject({ models: undefined }), 1_000);
      await expect(bench.member(bob)).resolves.toMatchObject({ team: undefined });
    });

    it('share a budget among members, and refuse names that are taken and teams of others', async () => {
      const teamId = await bench.team({ budgets: { ...NO_LIMITS, weekly: nanos(100n) } });
      const cara = await bench.join('cara@example.com', 'member', teamId);
      await members.setTeam(owner, bob.memberId, teamId);
      await bench.spend(await bench.key(bob), 60n);
      await expect(bench.admit(await bench.key(cara), 41n)).resolves.toMatchObject({ outcome: 'team', period: 'week' });
      await expect(bench.app.get(Teams).list(owner.id)).resolves.toMatchObject([
        { name: 'Research', members: 2, keys: 2, budgets: { weekly: { limit: 100n, used: 60n } } },
      ]);
      await expect(bench.team({ name: 'research' })).rejects.toThrow('there is a team “research” already');
      const stranger = await bench.found('eve@example.com', 'Other');
      await expect(members.setTeam(stranger, stranger.memberId, teamId)).rejects.toMatchObject({ kind: 'not_found' });
      await expect(bench.app.get(Teams).delete(stranger, teamId)).rejects.toMatchObject({ kind: 'not_found' });
      await bench.isExact();
    });
  });
});
