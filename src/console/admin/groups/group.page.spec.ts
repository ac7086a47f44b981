import type { GroupDefinition, KnownModel, ModelDefinition } from '../../../catalog/index.js';
import { groupPreview } from './group.page.js';

const aGroup = (overrides: Partial<GroupDefinition> = {}): GroupDefinition => ({
  name: 'saver',
  multiplier: '0.5',
  models: {},
  description: '',
  choice: 'everyone',
  enabled: true,
  limits: {},
  ...overrides,
});

/** $4 per million in and $5 out, so that 10,000 in and 1,000 out cost $0.045. */
const aModel = (name: string, overrides: Partial<ModelDefinition> = {}): KnownModel => ({
  name,
  ownedBy: '',
  enabled: overrides.enabled ?? true,
  price: undefined,
  definition: {
    name,
    displayName: name,
    ownedBy: '',
    contextWindow: 1000,
    maxOutputTokens: 100,
    groups: ['saver'],
    capabilities: {},
    hiddenTokensPerSecond: 0,
    enabled: true,
    pricing: {
      free: false,
      tiers: [{ from_prompt_tokens: 0, input: '4', output: '5' }],
      effort_multipliers: {},
      request_fee: '0',
    },
    ...overrides,
  },
});

const inventory = {
  groups: [],
  models: [aModel('one'), aModel('two'), aModel('other', { groups: ['default'] }), aModel('off', { enabled: false })],
  channels: [{ name: 'c', models: ['one'], groups: ['saver'] }],
};

const STORED = { models: new Set(['one', 'two']), channels: new Set(['c']) };
const NOTHING = { models: new Set<string>(), channels: new Set<string>() };

describe('groupPreview', () => {
  it('returns prices before and after for each enabled model in the group', () => {
    const after = aGroup({ multiplier: '2', models: { two: '0.1' } });
    expect(groupPreview(inventory, aGroup(), after, STORED)).toEqual([
      { model: 'one', multiplier: '× 2.00', unserved: false, now: 22_500_000n, after: 90_000_000n },
      { model: 'two', multiplier: '× 0.10', unserved: true, now: 22_500_000n, after: 4_500_000n },
    ]);
  });

  it('returns all enabled models when the group is new', () => {
    const rows = groupPreview(inventory, undefined, aGroup({ name: 'any', multiplier: '2' }), NOTHING);
    expect(rows.map(({ model, now, after }) => [model, now, after])).toEqual([
      ['one', undefined, 90_000_000n],
      ['two', undefined, 90_000_000n],
      ['other', undefined, 90_000_000n],
    ]);
  });

  it('follows what is ticked', () => {
    const rows = groupPreview(inventory, aGroup(), aGroup(), {
      models: new Set(['two', 'other']),
      channels: new Set(['c']),
    });
    expect(rows.map(({ model, unserved, now, after }) => [model, unserved, now, after])).toEqual([
      ['one', false, 22_500_000n, undefined],
      ['two', true, 22_500_000n, 22_500_000n],
      ['other', true, undefined, 22_500_000n],
    ]);
  });

  it('returns nothing when a new group has no values yet', () => {
    expect(groupPreview(inventory, undefined, undefined, NOTHING)).toEqual([]);
  });
});
