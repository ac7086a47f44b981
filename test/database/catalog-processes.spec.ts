import { CatalogService, type FallbackModel, FREE_PRICING } from '../../src/catalog/index.js';
import {
  CatalogExport,
  ChannelDirectory,
  DEFAULT_TIMEOUTS,
  type FallbackChannel,
} from '../../src/catalog/channels/index.js';
import { Notifications } from '../../src/platform/database/index.js';
import { CATALOG, served, useCatalog } from '../support/catalog-world.js';
import { eventually } from '../support/eventually.js';
import { withoutNotifications } from '../support/without-notifications.js';

const aFallbackModel: FallbackModel = {
  name: 'demo',
  displayName: 'Demo',
  ownedBy: '',
  contextWindow: 1,
  maxOutputTokens: 1,
  capabilities: {},
  hiddenTokensPerSecond: 0,
  enabled: true,
  createdAt: 0,
  pricing: FREE_PRICING,
  priceVersionId: 'demo',
  pricesSince: 0,
};
const aFallbackChannel: FallbackChannel = {
  id: 'demo',
  name: 'demo',
  protocol: 'messages',
  baseUrl: 'http://127.0.0.1:9',
  auth: 'none',
  query: {},
  models: new Map([['demo', ['demo']]]),
  tier: 1,
  weight: 1,
  maxConcurrency: undefined,
  timeouts: DEFAULT_TIMEOUTS,
  headers: {},
  flags: {},
  credentials: [],
  costs: new Map(),
  family: 'demo',
  unavailableReason: undefined,
};

describe('the catalog', () => {
  const world = useCatalog();
  const { apply, boot, version } = world;

  it('is seen by another process within a second of a change', async () => {
    const [here, there] = [await boot(), await boot()];
    await apply(here, CATALOG);
    await eventually(() => expect(there.get(CatalogService).current().models.has('big')).toBe(true), 1000);
    expect(there.get(ChannelDirectory).serving('saver', 'big')).toHaveLength(1);
    expect(there.get(CatalogService).current().version).toBe(BigInt(await version()));
  });

  it('is read again when notifications come back, and each second while they are away', async () => {
    const [here, there] = [await boot(), await boot()];
    await withoutNotifications(world.sql, async () => {
      await eventually(() => expect(there.get(Notifications).connected).toBe(false));
      await apply(here, CATALOG);
      await eventually(() => expect(there.get(CatalogService).current().models.has('big')).toBe(true), 2500);
    });
  });

  it('is current after an awaited reload, also with concurrent reloads', async () => {
    const [here, there] = [await boot(), await boot()];
    const catalog = there.get(CatalogService);
    for (let multiplier = 2; multiplier < 7; multiplier++) {
      const early = catalog.reload();
      await apply(here, `groups: [{ name: saver, multiplier: ${multiplier} }]`);
      await Promise.all([catalog.reload(), catalog.reload(), early]);
      expect(catalog.current().groups.get('saver')?.multiplier).toBe(BigInt(multiplier) * 1_000_000n);
    }
  });

  it('refuses a variable that the running server does not have, naming it and the channel', async () => {
    const server = await boot({});
    await server.get(Notifications).announceServer();
    server.get(ChannelDirectory).serve();
    await expect(apply(await boot(), CATALOG)).rejects.toThrow(
      'catalog.yaml:27: channels[0].credentials of channel main: the running server has no environment variable MAIN_KEY',
    );
    expect(await version()).toBe(1);
  });

  it('takes a variable that the running server has, whatever the environment of the command line', async () => {
    const server = await boot();
    await server.get(Notifications).announceServer();
    server.get(ChannelDirectory).serve();
    expect(await apply(await boot({}), CATALOG)).toContain('channel main: added');
  });

  it('takes a channel out where its variable is missing, and says why', async () => {
    await apply(await boot(), CATALOG);
    const without = await boot({});
    const directory = without.get(ChannelDirectory);
    expect(directory.serving('saver', 'big')).toEqual([]);
    expect(served(directory, 'saver')).toEqual([]);
    expect(directory.all().find(({ name }) => name === 'main')).toMatchObject({
      credentials: [],
      unavailableReason: 'the environment variable MAIN_KEY is not set',
    });
    expect(directory.hasStored).toBe(true);
  });

  it('takes a channel out whose secret was stored under another SECRET_KEY', async () => {
    await apply(await boot(), CATALOG);
    const other = await boot({ MAIN_KEY: 'sk-main', SECRET_KEY: 'o'.repeat(32) });
    expect(
      other
        .get(ChannelDirectory)
        .all()
        .find(({ name }) => name === 'main')?.unavailableReason,
    ).toContain('SECRET_KEY');
    await expect(
      other
        .get(CatalogExport)
        .export()
        .then(({ withSecrets }) => withSecrets()),
    ).rejects.toThrow('Channel main');
  });

  it('has fallback models and channels in every group, for as long as they are wanted', async () => {
    const program = await boot();
    const [catalog, directory] = [program.get(CatalogService), program.get(ChannelDirectory)];
    const active = (): boolean => !directory.hasStored;
    catalog.offerFallback([aFallbackModel], active);
    directory.offerFallback([aFallbackChannel], active);
    await apply(program, 'groups: [{ name: saver }]');
    await catalog.reload();
    expect(catalog.current().models.get('demo')?.groups).toEqual(['default', 'saver']);
    expect(directory.serving('saver', 'demo').map(({ name }) => name)).toEqual(['demo']);
    expect(directory.hasStored).toBe(false);
    await apply(program, CATALOG);
    await catalog.reload();
    expect(catalog.current().models.has('demo')).toBe(false);
    expect(directory.serving('saver', 'demo')).toEqual([]);
  });
});
