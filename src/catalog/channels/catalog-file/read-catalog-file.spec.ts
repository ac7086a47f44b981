import { entriesIn, errorsOf } from '../../../../test/support/catalog-files.js';
import type { ChannelDefinition } from '../channel-definition.js';
import type { ChannelEntry } from './channel.dto.js';
import { channelFrom, groupFrom, modelFrom, defaultLimitsFrom } from './definitions-from-entries.js';

const DEFAULT_AUTH = new Map([
  ['chat-completions', 'bearer'],
  ['messages', 'x-api-key'],
] as const);
const definitionOf = (entry: ChannelEntry): ChannelDefinition => channelFrom(entry, DEFAULT_AUTH);

const model = (fields: string): string => `models:
  - name: m
    context_window: 1000
    max_output_tokens: 100
    ${fields}
`;
const channel = (fields: string): string => `channels:
  - name: c
    protocol: messages
    base_url: https://example.com/v1
    models: [m]
    ${fields}
`;
const priced = (tier: string): string => model(`prices: [${tier}]`);

/** A file as `docs/catalog-file.md` has it, smaller. */
const DOCUMENTED = `
groups:
  - { name: default, multiplier: 1 }
  - name: saver
    multiplier: 0.8
    description: Slower channels at a discount
    limits: { requests_per_minute: 600, tokens_per_minute: 2000000, concurrency: 20 }
limits:
  key: { requests_per_minute: 60 }
  address: { concurrency: 10 }
models:
  - name: gpt-5.5
    display_name: GPT-5.5
    owned_by: openai
    context_window: 400000
    max_output_tokens: 128000
    groups: [default, saver]
    capabilities: [vision, tools, reasoning]
    effort_multipliers: { high: 1.0, xhigh: 1.0 }
    request_fee: 0
    prices:
      - { from_prompt_tokens: 0,      input: 1.25, cache_read: 0.125, output: 10 }
      - { from_prompt_tokens: 272000, input: 2.50, cache_read: 0.25,  output: 15 }
channels:
  - name: openai-main
    protocol: responses
    base_url: https://api.openai.com/v1
    auth: bearer
    query: { api-version: "2026-01-01" }
    credentials: [env:OPENAI_KEY]
    models: { gpt-5.5: gpt-5.5-2026-08 }
    groups: [default]
    tier: 1
    weight: 100
    max_concurrency: 200
    costs: { gpt-5.5: 0.75 }
    timeouts: { connect_ms: 10000, first_event_ms: 120000, idle_ms: 300000, total_ms: 1800000 }
    headers: { x-extra: value }
    flags: { anthropicVersion: "2023-06-01" }
`;

describe('readCatalogFile', () => {
  it('reads every documented field', () => {
    const file = entriesIn(DOCUMENTED);
    expect(file.groups?.map(groupFrom)[1]).toEqual({
      name: 'saver',
      multiplier: '0.8',
      models: {},
      description: 'Slower channels at a discount',
      choice: 'everyone',
      enabled: true,
      limits: { requestsPerMinute: 600, tokensPerMinute: 2_000_000, concurrency: 20 },
    });
    expect(defaultLimitsFrom(file.limits ?? {})).toEqual({
      key: { requestsPerMinute: 60 },
      address: { concurrency: 10 },
    });
    expect(file.models?.map(modelFrom)).toEqual([
      {
        name: 'gpt-5.5',
        displayName: 'GPT-5.5',
        ownedBy: 'openai',
        contextWindow: 400_000,
        maxOutputTokens: 128_000,
        groups: ['default', 'saver'],
        capabilities: { vision: true, tools: true, reasoning: true },
        hiddenTokensPerSecond: 150,
        enabled: true,
        pricing: {
          free: false,
          request_fee: '0',
          effort_multipliers: { high: '1', xhigh: '1' },
          tiers: [
            { from_prompt_tokens: 0, input: '1.25', cache_read: '0.125', output: '10' },
            { from_prompt_tokens: 272_000, input: '2.5', cache_read: '0.25', output: '15' },
          ],
        },
      },
    ]);
    expect(file.channels?.map(definitionOf)).toEqual([
      {
        name: 'openai-main',
        protocol: 'responses',
        baseUrl: 'https://api.openai.com/v1',
        auth: 'bearer',
        query: { 'api-version': '2026-01-01' },
        credentials: [{ env: 'OPENAI_KEY' }],
        models: { 'gpt-5.5': ['gpt-5.5-2026-08'] },
        groups: ['default'],
        tier: 1,
        weight: 100,
        maxConcurrency: 200,
        costs: { 'gpt-5.5': { share: '0.75' } },
        timeouts: { connectMs: 10_000, firstEventMs: 120_000, idleMs: 300_000, totalMs: 1_800_000 },
        headers: { 'x-extra': 'value' },
        flags: { anthropicVersion: '2023-06-01' },
      },
    ]);
  });

  it('applies documented defaults to missing fields', () => {
    const [definition] = entriesIn(channel('credentials: ["***"]')).channels?.map(definitionOf) ?? [];
    expect(definition).toMatchObject({
      auth: 'x-api-key',
      credentials: ['keep'],
      models: { m: ['m'] },
      groups: ['default'],
      tier: 1,
      weight: 100,
      maxConcurrency: undefined,
      costs: {},
      timeouts: { connectMs: 10_000, firstEventMs: 120_000, idleMs: 300_000, totalMs: 1_800_000 },
    });
    expect(entriesIn(model('prices: free')).models?.map(modelFrom)[0]).toMatchObject({
      displayName: 'm',
      ownedBy: '',
      groups: ['default'],
      capabilities: {},
      pricing: { free: true, request_fee: '0', effort_multipliers: {}, tiers: [] },
    });
    expect(entriesIn('groups: [{ name: g, description: }]').groups?.map(groupFrom)).toEqual([
      { name: 'g', multiplier: '1', models: {}, description: '', choice: 'everyone', enabled: true, limits: {} },
    ]);
  });

  it('sends the credential in the default header of the protocol', () => {
    const authOf = (text: string): unknown => entriesIn(text).channels?.map(definitionOf)[0]?.auth;
    expect(authOf(channel(''))).toBe('x-api-key');
    expect(authOf(channel('').replace('messages', 'chat-completions'))).toBe('bearer');
    expect(authOf(channel('auth: bearer'))).toBe('bearer');
    expect(authOf(channel('auth: x-goog-api-key'))).toBe('x-goog-api-key');
  });

  it('reads decimals without loss of digits', () => {
    const [definition] = entriesIn(priced('{ input: 123456789.123456789, output: 0.1 }')).models?.map(modelFrom) ?? [];
    expect(definition?.pricing.tiers).toEqual([{ from_prompt_tokens: 0, input: '123456789.123456789', output: '0.1' }]);
  });

  it('reads credentials: *** with and without quotes, env: references and secrets', () => {
    const [definition] =
      entriesIn(channel('credentials: [***, "***", env:A_KEY, 12345]')).channels?.map(definitionOf) ?? [];
    const [first, second, third, fourth] = definition?.credentials ?? [];
    expect([first, second, third]).toEqual(['keep', 'keep', { env: 'A_KEY' }]);
    expect(fourth !== undefined && typeof fourth === 'object' && 'secret' in fourth && fourth.secret.reveal()).toBe(
      '12345',
    );
  });

  it('reads capabilities and flags with values, integers as numbers', () => {
    const [{ capabilities } = { capabilities: {} }] =
      entriesIn(model('capabilities: [vision, thinkingMode: budget, stopMax: 4]\n    prices: free')).models?.map(
        modelFrom,
      ) ?? [];
    expect(capabilities).toEqual({ vision: true, thinkingMode: 'budget', stopMax: 4 });
    const [{ flags } = { flags: {} }] =
      entriesIn(channel('flags: { efforts: [low, high], includeUsage: false, maxOutput: 8192 }')).channels?.map(
        definitionOf,
      ) ?? [];
    expect(flags).toEqual({ efforts: ['low', 'high'], includeUsage: false, maxOutput: 8192 });
  });

  it('reads several upstream names of one model', () => {
    const text = channel('').replace('models: [m]', 'models: { m: [a, b], n: c }');
    expect(entriesIn(text).channels?.map(definitionOf)[0]?.models).toEqual({ m: ['a', 'b'], n: ['c'] });
  });

  it('keeps a name that looks like a number', () => {
    const text = channel('query: { v: 1.10 }').replace('models: [m]', 'models: { 4.0: 4.10 }');
    expect(entriesIn(text).channels?.map(definitionOf)[0]).toMatchObject({
      models: { '4.0': ['4.10'] },
      query: { v: '1.10' },
    });
  });

  it('removes a trailing slash from a base URL', () => {
    const text = channel('').replace('/v1', '/v1//');
    expect(entriesIn(text).channels?.map(definitionOf)[0]?.baseUrl).toBe('https://example.com/v1');
  });

  it('reports all errors at once, with line and path', () => {
    expect(
      errorsOf(`groups:
  - name: saver
    multiplier: fast
channels:
  - name: main
    protocol: messages
    base_url: ftp://example.com
    models: []
    colour: red
`),
    ).toEqual([
      'catalog.yaml:3: groups[0].multiplier must be a plain decimal of 0 or more with at most 6 decimal places, without an exponent',
      'catalog.yaml:7: channels[0].base_url must start with http:// or https://',
      'catalog.yaml:8: channels[0].models must name at least one model',
      'catalog.yaml:9: channels[0].colour is not a catalog field',
    ]);
  });

  it('reports the line of the entry when a field is missing', () => {
    expect(errorsOf('models:\n\n  - context_window: 5\n    max_output_tokens: 5\n    prices: free\n')).toEqual([
      'catalog.yaml:3: models[0].name is missing',
    ]);
  });

  it.each([
    ['an exponent', priced('{ input: 1e-7, output: 1 }'), 'models[0].prices[0].input must be a plain decimal'],
    ['ten digits behind the point', priced('{ input: 0.1234567890, output: 1 }'), 'at most 9 decimal places'],
    ['a negative price', priced('{ input: -1, output: 1 }'), 'models[0].prices[0].input must be a plain decimal of 0'],
    ['infinity', priced('{ input: .inf, output: 1 }'), 'models[0].prices[0].input'],
    ['a price without output', priced('{ input: 1 }'), 'models[0].prices[0].output is missing'],
    [
      'an unknown class of tokens',
      priced('{ input: 1, output: 1, vidéo: 1 }'),
      'prices[0].vidéo is not a catalog field',
    ],
    ['no prices', model(''), 'models[0].prices is missing'],
    ['empty prices', model('prices: []'), 'models[0].prices must have at least one tier, or be "free"'],
    ['other words for prices', model('prices: none'), 'models[0].prices must be a list'],
    ['tiers that begin late', priced('{ from_prompt_tokens: 1, input: 1, output: 1 }'), 'must start with a tier'],
    [
      'tiers out of order',
      priced(
        '{ input: 1, output: 1 }, { from_prompt_tokens: 9, input: 1, output: 1 }, { from_prompt_tokens: 9, input: 1, output: 1 }',
      ),
      'must be sorted by from_prompt_tokens',
    ],
    ['a negative context', model('prices: free').replace('1000', '-5'), 'context_window must be an integer from 1'],
    ['no output', model('prices: free').replace('100\n', '0\n'), 'max_output_tokens must be an integer from 1'],
    ['half a token', model('prices: free').replace('1000', '10.5'), 'context_window must be an integer'],
    ['an unknown effort', model('effort_multipliers: { huge: 2 }\n    prices: free'), 'effort_multipliers must map'],
    ['a name with a comma', model('prices: free').replace('name: m', 'name: "a,b"'), 'models[0].name must be a name'],
    ['an entry that is no mapping', 'models: [gpt]', 'models must be a list of mappings; entry 1 is not'],
    ['an entry that is a number', 'groups: [5]', 'groups must be a list of mappings; entry 1 is not'],
    ['a tier that is a number', model('prices: [5]'), 'prices must be a list of mappings; entry 1 is not'],
    ['an entry that is nothing', 'channels:\n  -\n', 'channels must be a list of mappings; entry 1 is not'],
    ['a list that is none', 'groups: { name: g }', 'groups must be a list'],
    ['an unknown section', 'group: []', 'group is not a catalog field'],
    [
      'a user in the address',
      channel('').replace('https://', 'https://me:secret@'),
      'must not contain a user or password',
    ],
    ['a query in the address', channel('').replace('/v1', '/v1?a=1'), 'base_url must not contain "?"'],
    [
      'an unknown auth',
      channel('auth: basic'),
      'auth must be bearer, none, or the name of a header in lower case, such as x-api-key',
    ],
    [
      'an auth in a header of the relay',
      channel('auth: content-type'),
      'auth must not be content-type: the relay sets it',
    ],
    ['a credential with blanks', channel('credentials: ["a b"]'), 'credentials must be a list of secrets'],
    ['an env: without a name', channel('credentials: ["env:"]'), 'credentials must have a variable name after "env:"'],
    [
      "a variable of the program's own",
      channel('credentials: [env:A_KEY, env:SECRET_KEY]'),
      'credentials must not name a secret of Switchboard itself; entry 2 does',
    ],
    [
      'a variable of a secret setting',
      channel('credentials: [env:STRIPE_SECRET_KEY]'),
      'credentials must not name a secret of Switchboard itself; entry 1 does',
    ],
    ['a reserved header', channel('headers: { Authorization: x }'), 'headers must not set authorization'],
    ['a hop-by-hop header', channel('headers: { connection: close }'), 'headers must not set connection'],
    ['a header that splits', channel('headers: { x-a: "b\\r\\nc: d" }'), 'headers must map names to strings'],
    ['a header twice', channel('headers: { x-a: 1, X-A: 2 }'), 'headers must not set x-a twice'],
    ['a time limit of nothing', channel('timeouts: { idle_ms: 0 }'), 'timeouts.idle_ms must be an integer from 1'],
    ['an unknown time limit', channel('timeouts: { idle: 5 }'), 'timeouts.idle is not a catalog field'],
    ['time limits that are no mapping', channel('timeouts: 5'), 'timeouts must be a mapping'],
    [
      'a limit of nothing',
      'groups: [{ name: g, limits: { requests_per_minute: 0 } }]',
      'groups[0].limits.requests_per_minute must be an integer from 1',
    ],
    ['half a call', 'limits: { key: { concurrency: 1.5 } }', 'limits.key.concurrency must be an integer from 1'],
    ['an unknown limit', 'limits: { key: { per_hour: 5 } }', 'limits.key.per_hour is not a catalog field'],
    ['limits of something else', 'limits: { group: { concurrency: 5 } }', 'limits.group is not a catalog field'],
    ['a limit without a subject', 'limits: { concurrency: 5 }', 'limits.concurrency is not a catalog field'],
    ['limits that are no mapping', 'limits: { address: 5 }', 'limits.address must be a mapping'],
    ['a negative weight', channel('weight: -1'), 'weight must be an integer from 0'],
    [
      'a model whose name has a blank',
      channel('').replace('[m]', '[a b]'),
      'models must have model names without spaces',
    ],
    [
      'a model without upstream name',
      channel('').replace('[m]', '{ m: }'),
      'models must have one upstream name or a list of names per model; "m" does not',
    ],
    ['a flag that is a mapping', channel('flags: { a: { b: 1 } }'), 'flags must be true, false'],
    ['an empty file', '', 'the file must contain'],
    ['a file that is no YAML', 'models: [', 'is not YAML'],
    ['a field twice', 'groups: []\ngroups: []\n', 'is not YAML (DUPLICATE_KEY)'],
    ['a field named after an internal', 'groups: [{ name: g, __proto__: { a: 1 } }]', 'with a reserved name'],
  ])('rejects %s, naming the path', (_, text, error) => {
    expect(errorsOf(text).join('\n')).toContain(error);
  });

  it('never shows a credential in an error', () => {
    const texts = [
      channel('credentials: ["sk-hidden one"]'),
      channel('credentials: [sk-hidden, *hidden]'),
      'a: "sk-hidden',
    ];
    for (const text of texts) {
      expect(errorsOf(text)).not.toEqual([]);
      expect(errorsOf(text).join()).not.toContain('hidden');
    }
  });

  it('rejects YAML references that expand without bound', () => {
    const layers = Array.from(
      { length: 12 },
      (_, index) => `l${index + 1}: &l${index + 1} [${`*l${index},`.repeat(10)}]`,
    );
    expect(errorsOf(`l0: &l0 [a]\n${layers.join('\n')}\n`).join()).toContain('is too large');
  });
});
