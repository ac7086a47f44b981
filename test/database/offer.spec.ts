import type { TestingModule } from '@nestjs/testing';
import { CatalogModule, CatalogService, Offer } from '../../src/catalog/index.js';
import { CatalogImport, ChannelsModule } from '../../src/catalog/channels/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

const CATALOG = `
groups:
  - { name: default, multiplier: 1 }
  - { name: saver, multiplier: 0.8 }
  - { name: priority, multiplier: 1.25 }
models:
  - { name: b, context_window: 1000, max_output_tokens: 100, groups: [default, saver], prices: free }
  - { name: a, context_window: 1000, max_output_tokens: 100, groups: [default, saver], prices: free }
  - { name: unserved, context_window: 1000, max_output_tokens: 100, groups: [default], prices: free }
  - { name: elsewhere, context_window: 1000, max_output_tokens: 100, groups: [priority], prices: free }
channels:
  - { name: one, protocol: responses, base_url: https://one.example, credentials: [x], groups: [default, saver], models: { a: a, b: b } }
  - { name: two, protocol: messages, base_url: https://two.example, credentials: [x], groups: [default], models: { a: a, elsewhere: e } }
`;

describe('models on offer', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let offer: Offer;

  const apply = async (text: string, prune = false): Promise<void> => {
    const usual = new Map([
      ['responses', 'bearer'],
      ['messages', 'x-api-key'],
    ] as const);
    await app.get(CatalogImport).apply(text, { fileName: 'test.yaml', prune, protocols: usual });
    await app.get(CatalogService).reload();
  };
  const models = (group: string): unknown =>
    offer.modelsOf(group).map(({ model, protocols }) => [model.name, ...protocols]);

  beforeAll(async () => {
    database = await freshDatabase();
    app = await startOn(database, [CatalogModule, ChannelsModule]);
    offer = app.get(Offer);
    await apply(CATALOG);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it("is every group that is switched on, the viewer's own first, the others by what they cost", () => {
    const names = (viewer: Parameters<Offer['groupsFor']>[0]) => offer.groupsFor(viewer).map(({ name }) => name);
    expect(names(undefined)).toEqual(['default', 'saver', 'priority']);
    expect(names({ groupName: undefined })).toEqual(['default', 'saver', 'priority']);
    expect(names({ groupName: 'priority' })).toEqual(['priority', 'saver', 'default']);
  });

  it('contain a group that is only assigned for accounts that have it', async () => {
    const names = (groupName: string | undefined) => offer.groupsFor({ groupName }).map(({ name }) => name);
    await apply(CATALOG.replace('name: priority,', 'name: priority, choice: assigned,'));
    expect(names(undefined)).toEqual(['default', 'saver']);
    expect(names('saver')).toEqual(['saver', 'default']);
    expect(names('priority')).toEqual(['priority', 'saver', 'default']);
    await apply(CATALOG);
    expect(names(undefined)).toEqual(['default', 'saver', 'priority']);
  });

  it('is every model that a channel of the group answers for, with the protocols that these speak', () => {
    expect(models('default')).toEqual([
      ['a', 'messages', 'responses'],
      ['b', 'responses'],
    ]);
    expect(models('saver')).toEqual([
      ['a', 'responses'],
      ['b', 'responses'],
    ]);
  });

  it('is a model in every protocol, unless its channels take calls of their own alone', async () => {
    const translates = (): boolean[] => offer.modelsOf('default').map((offered) => offered.translates);
    expect(translates()).toEqual([true, true]);
    await apply(CATALOG.replace('name: one,', 'name: one, flags: { nativeOnly: true },'));
    expect(translates()).toEqual([true, false]);
    await apply(CATALOG);
  });

  it('is nothing where only the model or only the channel is of the group', () => {
    expect(models('priority')).toEqual([]);
    expect(models('nobody')).toEqual([]);
  });

  it('is no more what was disabled', async () => {
    await apply(
      CATALOG.replace(/^ {2}- \{ name: (saver|b),.*\n/gm, '')
        .replaceAll(', saver', '')
        .replace(', b: b', ''),
      true,
    );
    expect(models('saver')).toEqual([]);
    expect(models('default')).toEqual([['a', 'messages', 'responses']]);
    expect(offer.groupsFor(undefined).map(({ name }) => name)).toEqual(['default', 'priority']);
  });
});
