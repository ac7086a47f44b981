import { SettingsEditor } from '../../src/platform/settings/index.js';
import { AccountService } from '../../src/auth/index.js';
import { AccountDeletion } from '../../src/keys/onboarding/index.js';
import { Members, Organizations } from '../../src/keys/organizations/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { type BenchMember, NO_LIMITS, OrganizationBench } from '../support/organization-bench.js';

describe('Organizations', () => {
  let bench: OrganizationBench;
  let organizations: Organizations;
  let owner: BenchMember;

  beforeEach(async () => {
    bench = await OrganizationBench.start();
    organizations = bench.app.get(Organizations);
    ({ owner } = bench);
  });
  afterEach(() => bench.stop());

  it('creates an organization with a wallet when a user asks, who becomes its owner', async () => {
    await expect(organizations.of(owner.accountId)).resolves.toMatchObject([
      { id: owner.id, name: 'Acme', role: 'owner', members: 1, isOffered: false },
    ]);
    expect(owner.id).toMatch(/^org_[0-9a-f]{32}$/);
    await expect(bench.app.get(WalletService).balanceOf(owner.id)).resolves.toMatchObject({ balance: parseUsd('1') });
    await expect(bench.app.get(AccountService).byId(owner.id)).resolves.toMatchObject({
      email: `${owner.id}@organization.invalid`,
    });
  });

  it('refuses creation by users when the setting reserves it for administrators', async () => {
    await bench.app.get(SettingsEditor).change('organizations', 0, { creation: 'administrators' });
    const founder = { accountId: owner.accountId, isAdministrator: false };
    expect(organizations.mayCreate(founder)).toBe(false);
    await expect(organizations.create(founder, 'Second')).rejects.toMatchObject({ kind: 'permission_denied' });
    await expect(organizations.create({ ...founder, isAdministrator: true }, 'Second')).resolves.toMatch(/^org_/);
  });

  it('limits how many organizations a user creates within an hour', async () => {
    const create = () => organizations.create({ accountId: owner.accountId, isAdministrator: false }, 'More');
    for (let number = 2; number <= 10; number += 1) await create();
    await expect(create()).rejects.toMatchObject({ kind: 'rate_limit_exceeded' });
  });

  it('renames an organization when an admin asks, and records it', async () => {
    const admin = await bench.join('bob@example.com', 'admin');
    await bench.as(admin, () => organizations.rename(admin, '  Acme Labs '));
    await expect(organizations.get(owner.id)).resolves.toMatchObject({ name: 'Acme Labs' });
    expect(await bench.audited()).toEqual(['bob@example.com changed organization Acme name Acme → Acme Labs']);
    await expect(organizations.rename(admin, ' \n ')).rejects.toMatchObject({ details: { param: 'name' } });
  });

  it('has 500 teams at most, since their list has no pages', async () => {
    const sql = `INSERT INTO teams (id, organization_id, name) SELECT 'team_' || n, $1, 'T' || n FROM generate_series(1, 499) n`;
    await bench.query(sql, [owner.id]);
    await bench.team();
    await expect(bench.team({ name: 'One more' })).rejects.toMatchObject({ details: { param: 'name' } });
  });

  it.each(['member', 'viewer', 'billing'] as const)('refuses changes when the role is %s', async (role) => {
    const member = await bench.join('bob@example.com', role);
    const limits = { budgets: NO_LIMITS, maxKeys: 1 };
    const attempts = [
      organizations.rename(member, 'Mine'),
      organizations.setDefaults(member, limits),
      organizations.offer(member, member.memberId),
      organizations.delete(member),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ kind: 'permission_denied' });
    await expect(organizations.get(owner.id)).resolves.toMatchObject({ name: 'Acme', offer: undefined });
  });

  it('finds no organization when the acting member belongs to another one', async () => {
    const stranger = await bench.found('eve@example.com', 'Other');
    const forged = { id: owner.id, memberId: stranger.memberId };
    await expect(organizations.rename(forged, 'Mine')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(organizations.delete(forged)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('gives new members the defaults, and leaves present ones as they are', async () => {
    const early = await bench.join('bob@example.com');
    const budgets = { ...NO_LIMITS, monthly: parseUsd('20'), lifetime: parseUsd('100') };
    await bench.as(owner, () => organizations.setDefaults(owner, { budgets, maxKeys: 3 }));
    const late = await bench.join('cara@example.com');
    await expect(bench.member(late)).resolves.toMatchObject({
      maxKeys: 3,
      budgets: {
        lifetime: { limit: parseUsd('100') },
        daily: { limit: undefined },
        monthly: { limit: parseUsd('20') },
      },
    });
    await expect(bench.member(early)).resolves.toMatchObject({
      maxKeys: undefined,
      budgets: { monthly: { limit: undefined } },
    });
    expect((await bench.audited())[0]).toContain('new members: monthly budget none → $20');
  });

  it('moves the ownership only when the member accepts the offer', async () => {
    const admin = await bench.join('bob@example.com', 'admin');
    await organizations.offer(owner, admin.memberId);
    await expect(organizations.get(owner.id)).resolves.toMatchObject({ offer: { email: 'bob@example.com' } });
    await expect(bench.member(owner)).resolves.toMatchObject({ role: 'owner' });
    await bench.as(admin, () => organizations.acceptOffer(admin));
    await expect(bench.member(admin)).resolves.toMatchObject({ role: 'owner' });
    await expect(bench.member(owner)).resolves.toMatchObject({ role: 'admin' });
    await expect(organizations.get(owner.id)).resolves.toMatchObject({ offer: undefined });
    await expect(organizations.acceptOffer(admin)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await bench.audited()).toEqual([
      'bob@example.com changed organization Acme owner ann@example.com → bob@example.com',
    ]);
  });

  it('ends an offer when it is withdrawn, declined, or its member is removed', async () => {
    const bob = await bench.join('bob@example.com');
    const end = [
      () => organizations.withdrawOffer(owner),
      () => organizations.declineOffer(bob),
      () => bench.app.get(Members).remove(owner, bob.memberId, { kind: 'disable' }),
    ];
    for (const work of end) {
      await organizations.offer(owner, bob.memberId);
      await work();
      await expect(organizations.get(owner.id)).resolves.toMatchObject({ offer: undefined });
    }
    await expect(organizations.acceptOffer(bob)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('deletes an organization with its keys and empties its wallet, once no call runs', async () => {
    const bob = await bench.join('bob@example.com');
    const key = await bench.key(bob);
    await bench.admit(key, 10n);
    await expect(organizations.delete(owner)).rejects.toThrow('One call is still running');
    await bench.settle(10n);
    await bench.as(owner, () => organizations.delete(owner));
    expect((await bench.audited()).at(-1)).toBe('ann@example.com deleted organization Acme');
    await expect(organizations.of(owner.accountId)).resolves.toEqual([]);
    await expect(organizations.get(owner.id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(bench.use(key)).rejects.toThrow('was deleted');
    await expect(bench.app.get(WalletService).balanceOf(owner.id)).resolves.toMatchObject({ balance: 0n });
    await bench.isExact();
  });

  it('keeps an owner’s account until the organization is transferred or deleted; members leave with theirs', async () => {
    const bob = await bench.join('bob@example.com');
    const key = await bench.key(bob);
    await expect(bench.app.get(AccountDeletion).run(owner.accountId)).rejects.toThrow('This account owns “Acme”.');
    await bench.app.get(AccountDeletion).run(bob.accountId);
    await expect(bench.member(bob)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(bench.use(key)).rejects.toThrow('disabled');
    await bench.isExact();
  });
});
