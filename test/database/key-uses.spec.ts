import { type KeyUses, KeyUsesReader, KeyUseRollups, TimeLimitedReads, type UsesOf } from '../../src/usage/index.js';
import { type Owner, UsageWorld } from '../support/usage-world.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('what a key was used for', () => {
  let world: UsageWorld;
  let ann: Owner;
  const now = Date.now();
  const ago = (ms: number): Date => new Date(now - ms);
  const month = { from: ago(30 * DAY_MS), to: new Date(now + 1000) };
  beforeEach(async () => {
    world = await UsageWorld.start();
    ann = await world.owner('ann@example.com');
  });
  afterEach(() => world.close());

  const sumUp = async (): Promise<void> => {
    while (!(await world.get(KeyUseRollups).step()));
  };
  const by = (dimension: 'address' | 'model', span = month, most = 1000, owner = ann): Promise<KeyUses> =>
    world
      .get(TimeLimitedReads)
      .read((query) =>
        world.get(KeyUsesReader).by(query, dimension, { accountId: owner.accountId, id: owner.keyId }, span, most),
      );
  /** The same from the calls themselves. */
  const counted = (column: 'ip' | 'model', { from, to } = month): Promise<Record<string, unknown>[]> =>
    world.sql.query(
      `SELECT ${column} AS name, count(*)::int AS calls, sum(cost)::text AS cost, min(created_at) AS "firstAt", max(created_at) AS "lastAt",
              count(*) FILTER (WHERE status = 'refused' OR error_reason = 'rate_limit_exceeded')::int AS refused,
              count(*) FILTER (WHERE status = 'failed' AND error_reason = 'upstream_error')::int AS failed
         FROM calls WHERE key_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY 1 ORDER BY 1`,
      [ann.keyId, from, to],
    );
  const plain = (rows: readonly UsesOf[]) =>
    rows
      .map((row) => ({ ...row, cost: row.cost.toString() }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const expectCounted = async (span = month): Promise<void> => {
    expect(plain((await by('address', span)).rows)).toEqual(await counted('ip', span));
    expect(plain((await by('model', span)).rows)).toEqual(await counted('model', span));
  };
  const fill = async (): Promise<void> => {
    for (let index = 0; index < 60; index += 1)
      await world.call(ann, ago(index * 11 * HOUR_MS + 1000), {
        ip: `192.0.2.${index % 4}`,
        model: `m${index % 3}`,
        cost: BigInt(index) * 1_000_000_007n,
        ...(index % 5 === 0 && { status: 'failed', errorReason: 'upstream_error', billingBasis: 'free' }),
        // An upstream refused it.
        ...(index % 6 === 1 && { status: 'failed', errorReason: 'rate_limit_exceeded', billingBasis: 'free' }),
        ...(index % 7 === 0 && { status: 'refused', errorReason: 'insufficient quota', billingBasis: 'free' }),
      });
  };

  it('is what its calls come to, before they are summed up and after, from any time on', async () => {
    await fill();
    await expectCounted();
    await sumUp();
    const [{ sums }] = await world.sql.query('SELECT count(*)::int AS sums FROM key_uses');
    expect(sums).toBeGreaterThan(50);
    await expectCounted();
    await expectCounted({ from: ago(20 * DAY_MS + 1234), to: ago(HOUR_MS / 2) });
    await expectCounted({ from: ago(11 * HOUR_MS + 1500), to: ago(11 * HOUR_MS + 500) });
  });

  it('has calls that come late, and not those that are taken back', async () => {
    await fill();
    await sumUp();
    const id = await world.call(ann, ago(3 * DAY_MS), { ip: '198.51.100.1', model: 'late', cost: 5n });
    await expectCounted();
    await world.sql.query('DELETE FROM calls WHERE id = $1', [id]);
    await expectCounted();
    expect((await by('address')).rows.map(({ name }) => name)).not.toContain('198.51.100.1');
    await Promise.all([sumUp(), sumUp(), world.call(ann, ago(2 * DAY_MS), { ip: '198.51.100.2' })]);
    await expectCounted();
  });

  it('puts the addresses beyond fifty of an hour together, and loses nothing of them', async () => {
    const at = ago(5 * HOUR_MS);
    for (let index = 0; index < 70; index += 1) await world.call(ann, at, { ip: `10.0.0.${index}`, cost: 3n });
    await world.call(ann, at, { ip: '10.0.0.69', cost: 3n });
    await sumUp();
    await world.call(ann, at, { ip: '10.9.9.9', cost: 3n });
    const { rows, others } = await by('address');
    expect(rows).toHaveLength(50);
    expect(rows[0]).toMatchObject({ name: '10.0.0.69', calls: 2 });
    expect(others).toMatchObject({ calls: 21, cost: 63n });
    const few = await by('address', month, 3);
    expect([few.rows.length, few.others?.calls]).toEqual([3, 72 - 4]);
  });

  it('is visible to the owner of the key only, and is kept for a month', async () => {
    await fill();
    const bob = await world.owner('bob@example.com');
    await sumUp();
    expect(await by('address', month, 10, { ...bob, keyId: ann.keyId })).toEqual({ rows: [], others: undefined });
    await world.sql.query(`UPDATE key_uses SET hour = hour - interval '33 days'`);
    await world.sql.query(`UPDATE key_use_sums SET summed_until = now() - interval '5 hours'`);
    await sumUp();
    expect(await world.sql.query(`SELECT FROM key_uses WHERE hour < now() - interval '32 days'`)).toEqual([]);
  });
});
