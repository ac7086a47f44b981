import type { INestApplicationContext } from '@nestjs/common';
import { CatalogService } from '../../src/catalog/index.js';
import { ChannelDirectory } from '../../src/catalog/channels/index.js';
import { CATALOG, useCatalog } from '../support/catalog-world.js';

const CHEAP = CATALOG.replace('small: 0', 'small: 0.5');
const WITHOUT = CATALOG.replace(/ {4}costs:\n.*\n.*\n/, '');

interface Version {
  readonly id: string;
  readonly costs: object;
}

describe('upstream costs of a channel', () => {
  const world = useCatalog();
  const { apply, boot, exported } = world;

  const versions = async (): Promise<Version[]> =>
    (
      await world.sql.query(
        `SELECT v.id, v.costs FROM channel_cost_versions v JOIN channels c ON c.id = v.channel_id
          WHERE c.name = 'main' ORDER BY v.valid_from`,
      )
    ).rows;
  const held = async (program: INestApplicationContext) => {
    await program.get(CatalogService).reload();
    return program
      .get(ChannelDirectory)
      .serving('default', 'small')
      .find(({ name }) => name === 'main')?.costs;
  };

  it('is held with the channel, with the version that says so; of a channel without costs nothing is known', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const [version, ...others] = await versions();
    expect(others).toEqual([]);
    const costs = await held(program);
    expect([...costs!.keys()].toSorted()).toEqual(['big', 'small']);
    expect(costs!.get('small')).toEqual({ share: 0n, version: version!.id });
    expect(costs!.get('big')).toMatchObject({
      version: version!.id,
      pricing: {
        requestFee: 2_000_000n,
        tiers: [
          { fromPromptTokens: 0, prices: { input: 1_000_000_000n, cache_read: 100_000_001n, output: 8_000_000_000n } },
          { fromPromptTokens: 272_000, prices: { input: 2_000_000_000n, cache_read: 2_000_000_000n } },
        ],
      },
    });
    const spare = program
      .get(ChannelDirectory)
      .all()
      .find(({ name }) => name === 'spare');
    expect(spare?.costs.size).toBe(0);
    const { rows } = await world.sql.query(
      'SELECT count(DISTINCT channel_id)::integer AS channels FROM channel_cost_versions',
    );
    expect(rows).toEqual([{ channels: 1 }]);
  });

  it('has a new version when it differs, and none when only its spelling does or something else changes', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    await apply(program, CATALOG.replace('small: 0', 'small: 0.00').replace('weight: 50', 'weight: 51'));
    expect(await versions()).toHaveLength(1);
    await expect(apply(program, CHEAP.replace('weight: 50', 'weight: 51'))).resolves.toEqual([
      'channel main: cost of small 0 × the price → 0.5 × the price',
    ]);
    const [, second, ...others] = await versions();
    expect(others).toEqual([]);
    expect((await held(program))?.get('small')).toEqual({ share: 500_000n, version: second!.id });
  });

  it('is known no more when the file says nothing of it, which the versions say as well', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    await expect(apply(program, WITHOUT)).resolves.toEqual([
      expect.stringMatching(/^channel main: cost of big input 1, cache_read 0\.100000001, .* → \(none\)$/),
      'channel main: cost of small 0 × the price → (none)',
    ]);
    expect((await held(program))?.size).toBe(0);
    expect((await versions()).map(({ costs }) => Object.keys(costs))).toEqual([['big', 'small'], []]);
    await expect(apply(program, WITHOUT)).resolves.toEqual([]);
  });

  it('never changes in a version once made', async () => {
    await apply(await boot(), CATALOG);
    await expect(world.sql.query("UPDATE channel_cost_versions SET costs = '{}'")).rejects.toThrow('append-only');
    await expect(world.sql.query('DELETE FROM channel_cost_versions')).rejects.toThrow('append-only');
  });

  it('is exported as it is, byte for byte also from another database', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const text = await exported(program);
    expect(text).toContain('\n      small: 0\n');
    await world.reopen();
    const other = await boot();
    await apply(other, text.replace('***', 'sk-other'));
    expect(await exported(other)).toBe(text);
  });
});
