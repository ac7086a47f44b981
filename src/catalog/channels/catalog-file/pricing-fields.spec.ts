import { entriesIn, errorsOf } from '../../../../test/support/catalog-files.js';
import { groupEntry, modelEntry } from './entries-from-definitions.js';
import { groupFrom, modelFrom } from './definitions-from-entries.js';
import { referenceErrors } from './references.js';
import { renderCatalog } from './catalog-export.service.js';

const FILE = `groups:
  - { name: saver, multiplier: 0.8, models: { m: 0.90 } }
models:
  - name: m
    context_window: 1000
    max_output_tokens: 100
    capabilities: [reasoning]
    hidden_tokens_per_second: 80
    service_tiers: { priority: 2.0, flex: 0.5 }
    tool_fees: { web_search: 0.010, file_search: 0 }
    speeds: { fast: 6.0 }
    geos: { us: 1.10 }
    tool_max_uses: { web_search: 5 }
    image_generation: { text_input: 5.0, image_output: 30 }
    prices: [{ input: 1, output: 2, cache_write_12h: 1.50 }]
`;

describe('price details in the catalog file', () => {
  it('are read exactly and normalized', () => {
    const { groups = [], models = [] } = entriesIn(FILE);
    expect(groups?.map(groupFrom)).toMatchObject([{ multiplier: '0.8', models: { m: '0.9' } }]);
    expect(models?.map(modelFrom)).toMatchObject([
      {
        hiddenTokensPerSecond: 80,
        validFrom: undefined,
        pricing: {
          service_tiers: { priority: '2', flex: '0.5' },
          tool_fees: { web_search: '0.01', file_search: '0' },
          speeds: { fast: '6' },
          geos: { us: '1.1' },
          tool_max_uses: { web_search: 5 },
          image_generation: { text_input: '5', image_output: '30' },
          tiers: [{ input: '1', output: '2', cache_write_12h: '1.5' }],
        },
      },
    ]);
  });

  it('are exported as imported', () => {
    const { groups = [], models = [] } = entriesIn(FILE);
    const definitions = { groups: groups!.map(groupFrom), models: models!.map(modelFrom) };
    const text = renderCatalog({
      groups: definitions.groups.map(groupEntry),
      models: definitions.models.map(modelEntry),
    });
    expect(text).toContain('{ m: 0.9 }');
    const again = entriesIn(text);
    expect({ groups: again.groups!.map(groupFrom), models: again.models!.map(modelFrom) }).toEqual(definitions);
  });

  it.each([
    ['2027-01-01', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T12:00', '2027-01-01T12:00:00.000Z'],
    ['"2027-01-01T12:00:00+02:00"', '2027-01-01T10:00:00.000Z'],
  ])('take a start time, in UTC by default: %s', (written, meant) => {
    const [model] = entriesIn(FILE.replace('hidden_tokens_per_second: 80', `valid_from: ${written}`)).models ?? [];
    expect(modelFrom(model!).validFrom?.toISOString()).toBe(meant);
  });

  it.each([
    ['models: { m: 0.90 }', 'models: { m: -1 }', 2, /groups\[0\]\.models must map models to decimals .*; m does not/],
    ['80', '-1', 8, /models\[0\]\.hidden_tokens_per_second must be an integer from 0/],
    ['hidden_tokens_per_second: 80', 'valid_from: soon', 8, /models\[0\]\.valid_from must be an ISO time such as/],
    [
      'hidden_tokens_per_second: 80',
      'valid_from: 2027-02-31',
      8,
      /models\[0\]\.valid_from must be an ISO time such as/,
    ],
    ['hidden_tokens_per_second: 80', 'valid_from: 5', 8, /models\[0\]\.valid_from must be an ISO time such as/],
    [
      'priority: 2.0',
      'default: 2.0',
      9,
      /service_tiers must map service tiers other than auto, default, .*; default does/,
    ],
    ['priority: 2.0', 'priority: much', 9, /models\[0\]\.service_tiers must map .*; priority does not/],
    [
      'web_search: 0.010',
      'Web Search: 1',
      10,
      /models\[0\]\.tool_fees must map tools to decimals .*; Web Search does not/,
    ],
    ['fast: 6.0', 'standard: 1', 11, /models\[0\]\.speeds must map speeds other than standard .*; standard does not/],
    ['us: 1.10', 'global: 1', 12, /models\[0\]\.geos must map regions other than global .*; global does not/],
    [
      'web_search: 5',
      'web_search: 0',
      13,
      /models\[0\]\.tool_max_uses must map tools to integers from 1 .*; web_search does not/,
    ],
    ['web_search: 5', 'web_search: 1.5', 13, /models\[0\]\.tool_max_uses must map .*; web_search does not/],
    ['image_output: 30', 'images: 30', 14, /models\[0\]\.image_generation must map text_input, .*; images does not/],
    ['text_input: 5.0, ', '', 14, /image_generation must set text_input and image_output; text_input is missing/],
    ['web_search: 0.010', 'web_search: 0.0000000001', 10, /models\[0\]\.tool_fees must map .*; web_search does not/],
  ])('are rejected with their line when invalid: %s as %s', (good, bad, line, message) => {
    const errors = errorsOf(FILE.replace(good, bad));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(new RegExp(`^catalog\\.yaml:${line}: `));
    expect(errors[0]).toMatch(message);
  });

  it('must refer to existing models', () => {
    const errors = referenceErrors(entriesIn(FILE.replace('models: { m:', 'models: { other:')), {
      stored: undefined,
      protocols: new Map(),
    });
    expect(errors).toEqual([
      { path: 'groups[0].models', message: 'refers to the model "other", which is not in this file' },
    ]);
  });
});
