import { DataSource, type EntityManager } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import { KeyHolders } from '../../src/keys/key-holders.js';
import { AccountDeletion } from '../../src/keys/onboarding/index.js';
import { Members, Organizations } from '../../src/keys/organizations/index.js';
import { AppError } from '../../src/platform/shared/index.js';
import { eventually } from '../support/eventually.js';
import { type BenchMember, NO_LIMITS, OrganizationBench } from '../support/organization-bench.js';

const LOCKED = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

describe('Members, while something else changes', () => {
  let bench: OrganizationBench;
  let members: Members;
  let bob: BenchMember;

  beforeEach(async () => {
    bench = await OrganizationBench.start();
    members = bench.app.get(Members);
    bob = await bench.join('bob@example.com');
  });
  afterEach(() => bench.stop());

  /** Does something while it waits for a transaction that then does something else. @returns its result or error */
  const during = async (
    waits: () => Promise<unknown>,
    { first, next }: Record<'first' | 'next', (manager: EntityManager) => Promise<unknown>>,
  ): Promise<unknown> => {
    const [result] = await bench.app.get(DataSource).transaction(async (manager) => {
      await first(manager);
      const waiting = waits().catch((error: unknown) => error);
      await eventually(async () => expect(await bench.query(LOCKED)).toHaveLength(1));
      await next(manager);
      // In a list, so that the transaction does not wait for it.
      return [waiting];
    });
    return result;
  };
  const lock = (manager: EntityManager): Promise<unknown> =>
    manager.query('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [bob.id]);
  const admit = (manager: EntityManager): Promise<string | undefined> =>
    bench.app.get(KeyHolders, { strict: false }).admit({ accountId: bob.id }, bob.memberId, manager);

  it('have no more keys than allowed when two are created at once', async () => {
    const { version } = await bench.member(bob);
    await members.setLimits(bench.owner, bob.memberId, version, { budgets: NO_LIMITS, maxKeys: 1 });
    const key = { accountId: bob.id, memberId: bob.memberId, name: 'first' };
    const second = during(() => bench.app.get(DataSource).transaction(admit), {
      first: admit,
      next: (manager) => bench.app.get(ApiKeyService).create(key, manager),
    });
    expect(await second).toMatchObject({ kind: 'invalid_request', details: { param: 'name' } });
  });

  it('do not become the owner when the offer is withdrawn at once', async () => {
    const organizations = bench.app.get(Organizations);
    await organizations.offer(bench.owner, bob.memberId);
    const accepted = during(() => organizations.acceptOffer(bob), {
      first: lock,
      next: (manager) =>
        manager.query('UPDATE organizations SET offered_to = NULL, offered_at = NULL WHERE id = $1', [bob.id]),
    });
    expect(await accepted).toBeInstanceOf(AppError);
    await expect(bench.member(bench.owner)).resolves.toMatchObject({ role: 'owner' });
  });

  it('keep their account when they become the owner while it is deleted', async () => {
    const deleted = during(() => bench.app.get(AccountDeletion).run(bob.accountId), {
      first: lock,
      next: async (manager) => {
        await manager.query(`UPDATE members SET role = 'admin' WHERE id = $1`, [bench.owner.memberId]);
        await manager.query(`UPDATE members SET role = 'owner' WHERE id = $1`, [bob.memberId]);
      },
    });
    expect(await deleted).toMatchObject({ kind: 'conflict' });
    await expect(bench.member(bob)).resolves.toMatchObject({ role: 'owner' });
  });
});
