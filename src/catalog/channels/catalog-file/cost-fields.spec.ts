import { entriesIn, errorsOf } from '../../../../test/support/catalog-files.js';
import type { ChannelEntity } from '../channel.entity.js';
import { channelFrom } from './definitions-from-entries.js';
import { channelEntry } from './entries-from-definitions.js';
import { referenceErrors } from './references.js';
import { renderCatalog } from './catalog-export.service.js';

const FILE = `channels:
  - name: main
    protocol: responses
    base_url: https://one.test/v1
    models: [share, flat, tiers, bare.1]
    costs:
      share: 0.60
      flat: { input: 1.250, cache_read: 0.125, output: 10, request_fee: 0.001, tool_fees: { web_search: 0.010 } }
      tiers:
        - { input: 1, output: 2, request_fee: 0.5 }
        - { from_prompt_tokens: 200000, input: 2, output: 4.000000001 }
      bare.1: 0
`;
const PROTOCOLS = new Map([['responses', 'bearer']]);

const onlyChannel = (text: string) => channelFrom(entriesIn(text).channels![0]!, PROTOCOLS);

/** As stored. */
function exported(text: string): string {
  const { credentials: _, ...columns } = onlyChannel(text);
  const row: ChannelEntity = {
    ...columns,
    id: 'chn_1',
    maxConcurrency: null,
    credentials: [],
    enabled: true,
    createdAt: new Date(0),
    deletedAt: null,
    formerNames: [],
  };
  return renderCatalog({ channels: [channelEntry({ ...row, costs: columns.costs, costVersion: undefined }, [])] });
}

describe('channel costs in the catalog file', () => {
  it('are read exactly: a share of the price, prices with fees, or tiers', () => {
    expect(onlyChannel(FILE).costs).toEqual({
      share: { share: '0.6' },
      flat: {
        prices: {
          free: false,
          request_fee: '0.001',
          tool_fees: { web_search: '0.01' },
          effort_multipliers: {},
          tiers: [{ from_prompt_tokens: 0, input: '1.25', cache_read: '0.125', output: '10' }],
        },
      },
      tiers: {
        prices: {
          free: false,
          request_fee: '0.5',
          tool_fees: {},
          effort_multipliers: {},
          tiers: [
            { from_prompt_tokens: 0, input: '1', output: '2' },
            { from_prompt_tokens: 200_000, input: '2', output: '4.000000001' },
          ],
        },
      },
      'bare.1': { share: '0' },
    });
  });

  it('are empty by default', () => {
    expect(onlyChannel(FILE.slice(0, FILE.indexOf('    costs:'))).costs).toEqual({});
    expect(exported(FILE.slice(0, FILE.indexOf('    costs:')))).not.toContain('costs');
  });

  it('are exported byte for byte as imported', () => {
    const text = exported(FILE);
    expect(text).toContain('    costs:\n      bare.1: 0\n');
    expect(text).toContain(
      '      flat: { input: 1.25, output: 10, cache_read: 0.125, request_fee: 0.001, tool_fees: { web_search: 0.01 } }\n',
    );
    expect(onlyChannel(text).costs).toEqual(onlyChannel(FILE).costs);
    expect(exported(text)).toBe(text);
  });

  it.each([
    ['0.60', '-1', 6, /costs must have .* per model; "share" must be prices, .* or a fraction of the model's price/],
    ['0.60', '0.6000001', 6, /costs must have .*; "share" must be .* at most 6 decimal places/],
    ['0.60', 'free', 6, /costs must have .*; "share" must be prices/],
    ['share: 0.60', 'share:', 6, /costs must have .*; "share" must be prices/],
    ['input: 1.250, ', '', 8, /costs\.flat\.input is missing/],
    ['input: 1.250', 'input: 1.2500000001', 8, /costs\.flat\.input must be a plain decimal .* 9 decimal places/],
    ['cache_read', 'cached', 8, /costs\.flat\.cached is not a catalog field/],
    ['request_fee: 0.001', 'request_fee: -1', 8, /costs\.flat\.request_fee must be a plain decimal of 0 or more/],
    ['web_search', 'Web Search', 8, /costs\.flat\.tool_fees must map tools to decimals/],
    ['output: 4.0', 'request_fee: 1, output: 4.0', 6, /costs must have .*; "tiers" must have fees in the first tier/],
    ['from_prompt_tokens: 200000', 'from_prompt_tokens: 0', 6, /"tiers" must be sorted by from_prompt_tokens/],
    ['output: 4.000000001', 'output: much', 11, /costs\.tiers\[1\]\.output must be a plain decimal/],
  ])('are rejected with their line when invalid: %s as %s', (good, bad, line, message) => {
    const errors = errorsOf(FILE.replace(good, bad));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(new RegExp(`^catalog\\.yaml:${line}: channels\\[0\\]\\.`));
    expect(errors[0]).toMatch(message);
  });

  it('must be a mapping of models that the channel serves', () => {
    const start = FILE.slice(0, FILE.indexOf('    costs:'));
    expect(errorsOf(`${start}    costs: 0.6\n`)[0]).toMatch(/channels\[0\]\.costs must be a mapping/);
    const strange = entriesIn(FILE.replace('share: 0.60', 'other: 0.60'));
    const names = { groups: new Set<string>(), models: new Set(['share', 'flat', 'tiers', 'bare.1', 'other']) };
    expect(referenceErrors(strange, { stored: names, protocols: new Map([['responses', 'none']]) })).toEqual([
      { path: 'channels[0].costs.other', message: "is not one of the channel's models" },
    ]);
  });
});
