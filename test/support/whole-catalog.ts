import { VENDORS } from '../conformance/protocols/index.js';

/** The variable that one of its credentials stands in. */
export const CREDENTIAL_VARIABLE = 'ROUND_TRIP_CREDENTIAL';

/** Names that YAML would take for something else, and one with what stands in no address as it is. */
export const ODD_NAMES = [
  'null',
  'yes',
  '1.50',
  '0x1F',
  '~',
  '*star',
  '&anchor',
  '!tag',
  '#hash',
  '-',
  '?',
  "it's",
  '"quoted"',
  '{brace}',
  'a:',
  'größe/ü.1%20?x',
] as const;

const quoted = (text: string): string => JSON.stringify(text);
const ODD = ODD_NAMES.map(quoted);

/**
 * A catalog file with something in every field: every protocol, every form of prices and costs, what is switched off and
 * what is still to come. One channel of each protocol serves `over-<protocol>`; one of them serves the odd names.
 */
export const wholeCatalog = (baseUrl: string): string => `
limits:
  account: { requests_per_minute: 6000, tokens_per_minute: 90000000, concurrency: 200 }
  address: { requests_per_minute: 900 }
groups:
  - { name: default, multiplier: 1, models: { tiered: 0.999999, "1.50": 2 } }
  - name: "*star"
    multiplier: 0.000001
    description: "Two  blanks, a # sign: and a colon, 'quotes' and \\"others\\", and more words than fit on one line of a file, so that it is folded somewhere"
    choice: assigned
    limits: { requests_per_minute: 60, tokens_per_minute: 100000, concurrency: 2 }
  - { name: resting, multiplier: 3, enabled: false }
  - { name: Zeta, multiplier: 1 }
  - { name: alpha, multiplier: 1 }
models:
  - name: tiered
    display_name: "Tiered: the first"
    owned_by: "#acme"
    context_window: 1000000
    max_output_tokens: 64000
    groups: [default, "*star", resting]
    capabilities: [vision, tools, reasoning, stopMax: 4, thinkingMode: budget, efforts: [low, high], only: ["1"], prefill: false, word: "true"]
    hidden_tokens_per_second: 75
    effort_multipliers: { low: 0.5, high: 1.5 }
    service_tiers: { flex: 0.5, priority: 2 }
    speeds: { fast: 6, turbo: 1.000001 }
    geos: { us: 1.1, eu: 1 }
    tool_fees: { web_search: 0.01, code_interpreter: 0.03 }
    tool_max_uses: { web_search: 5 }
    image_generation: { text_input: 5, image_input: 8.5, image_output: 30.000000001 }
    request_fee: 0.000000001
    prices:
      - { from_prompt_tokens: 0, input: 3, output: 15, cache_read: 0.3, cache_write_5m: 3.75, cache_write_1h: 6, cache_write_12h: 9,
          reasoning: 14, image_input: 2, audio_input: 1, audio_output: 999999999.999999999 }
      - { from_prompt_tokens: 200000, input: 6, output: 22.5 }
      - { from_prompt_tokens: 500000, input: 9, output: 30 }
    upcoming:
      - { valid_from: "2099-01-01T00:00:00.001Z", prices: free }
      - { valid_from: "2099-07-01", effort_multipliers: { high: 2 }, service_tiers: { flex: 0.25 }, tool_fees: { web_search: 0.02 },
          request_fee: 0.5, prices: [{ input: 1, output: 2 }, { from_prompt_tokens: 7, input: 3, output: 4 }] }
  - { name: from-2099, context_window: 8000, max_output_tokens: 1000, valid_from: "2099-03-01T12:00:00Z", prices: free }
  - { name: resting-model, context_window: 8000, max_output_tokens: 1000, enabled: false, prices: [{ input: 1, output: 2 }] }
${VENDORS.map(({ id }) => `  - { name: over-${id}, context_window: 200000, max_output_tokens: 64000, prices: free }`).join('\n')}
${ODD.map((name) => `  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, prices: free }`).join('\n')}
channels:
${VENDORS.map(
  ({ id, flags }) => `  - { name: only-${id}, protocol: ${id}, base_url: "${baseUrl}", credentials: [secret-of-${id}],
      models: { over-${id}: vendor-${id} }, costs: { over-${id}: 0.6 }, flags: ${JSON.stringify(flags)} }`,
).join('\n')}
  - name: "Nº 1: “odd” # names"
    protocol: chat-completions
    base_url: "${baseUrl}"
    auth: x-team-key
    query: { api-version: "2026-01-01", "odd name": "a=b&c" }
    credentials: ["12345", "*starred#secret:", env:${CREDENTIAL_VARIABLE}]
    models: { ${ODD.map((name) => `${name}: ${name}`).join(', ')}, tiered: [vendor-a, "1.50", "vendor b"], resting-model: rested, from-2099: later }
    groups: [default, "*star", resting]
    tier: 3
    weight: 7
    max_concurrency: 50
    costs:
      tiered: [{ input: 1, cache_read: 0.100000001, output: 8, request_fee: 0.002, tool_fees: { web_search: 0.005 }, image_generation: { text_input: 4, image_output: 20 } }, { from_prompt_tokens: 200000, input: 2, output: 12 }]
      "1.50": { input: 1, output: 2, request_fee: 0.1 }
      "null": 0
      resting-model: 0.333333
    timeouts: { connect_ms: 1000, first_event_ms: 20000, idle_ms: 30000, total_ms: 400000 }
    headers: { X-Team: "a: b # c", x-number: "7" }
    flags: { includeUsage: true, maxOutput: 8192, word: "true", efforts: [low, "1"] }
  - { name: open, protocol: chat-completions, base_url: "${baseUrl}", auth: none, models: [tiered, yes, "#hash"], weight: 0 }
`;
