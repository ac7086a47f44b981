/** Calls for the books: every member that has a price or reaches further, over every ending, with much money and little. */

import { REPORTED, type VendorEnding } from './vendor-reports.js';
import { prose } from './prose.js';
import { PROTOCOLS } from './protocols.js';
import type { ProtocolEndpoint, JsonObject } from './scripted-upstream.js';
import type { SeededRandom } from './seeded-random.js';

/** What a client sends beside its prompt. */
export interface MoneyMember {
  readonly name: string;
  /** The protocols whose clients can send it. */
  readonly of: readonly ProtocolEndpoint[];
  readonly body: (protocol: ProtocolEndpoint, upstream: ProtocolEndpoint) => JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ids of somebody else, other people's money, models that the key must not use: it must not go up as it is. */
  readonly isForbidden?: true;
  /** What it can cost beside its tokens, in nanos: its fees, its passes. */
  readonly extraNanos?: number;
  readonly multiplier?: number;
  /** What it costs is known without a report. */
  readonly isCountable?: true;
  /** All that the model writes is in its response. */
  readonly showsOutput?: true;
}

const ALL = PROTOCOLS;
const MESSAGES: readonly ProtocolEndpoint[] = ['messages'];
const OPENAI: readonly ProtocolEndpoint[] = ['chat-completions', 'responses'];
const RESPONSES: readonly ProtocolEndpoint[] = ['responses'];
const SEARCH_FEES = 3 * 10_000_000;
/** A compaction, and a response of an advisor, can come to so much for the longest prompt. */
const COMPACTION = 100_000_000;
const ADVICE = 60_000_000;
/** What an image of the most tokens costs. */
const IMAGE = 520_000_000;

const plain = (
  name: string,
  of: readonly ProtocolEndpoint[],
  body: JsonObject,
  more: Partial<MoneyMember> = {},
): MoneyMember => ({
  name,
  of,
  body: () => body,
  ...more,
});
const forbidden = (name: string, of: readonly ProtocolEndpoint[], body: JsonObject): MoneyMember =>
  plain(name, of, body, { isForbidden: true });

const model = (name: string, upstream: ProtocolEndpoint): string => `${name}-${upstream}`;

export const MONEY_MEMBERS: readonly MoneyMember[] = [
  plain('nothing', ALL, {}, { isCountable: true, showsOutput: true }),
  plain('an unknown member', ALL, { zap_mode: 'turbo' }, { isCountable: true }),
  plain(
    'speed fast',
    MESSAGES,
    { speed: 'fast' },
    { headers: { 'anthropic-beta': 'fast-mode-2026-02-01' }, multiplier: 6 },
  ),
  plain('inference_geo us', MESSAGES, { inference_geo: 'us' }, { multiplier: 1.1, isCountable: true }),
  plain('fast in the us', MESSAGES, { speed: 'fast', inference_geo: 'us' }, { multiplier: 6.6 }),
  plain('an inference_geo without a price', MESSAGES, { inference_geo: 'eu' }, { isForbidden: true }),
  plain('service_tier priority', OPENAI, { service_tier: 'priority' }, { multiplier: 2, isCountable: true }),
  plain('service_tier flex', OPENAI, { service_tier: 'flex' }),
  forbidden('a service_tier without a price', OPENAI, { service_tier: 'scale' }),
  {
    name: 'fallbacks',
    of: MESSAGES,
    body: (_, upstream) => ({ fallbacks: [{ model: model('spare', upstream) }] }),
    headers: { 'anthropic-beta': 'server-side-fallback-2026-07-01' },
    multiplier: 3,
  },
  {
    name: 'fallbacks to a model that the key may not use',
    of: MESSAGES,
    body: (_, upstream) => ({ fallbacks: [{ model: model('foreign', upstream) }] }),
    isForbidden: true,
  },
  forbidden('default fallbacks', MESSAGES, { fallbacks: 'default' }),
  plain(
    'compaction',
    MESSAGES,
    { context_management: { edits: [{ type: 'compact_20260112' }] } },
    {
      headers: { 'anthropic-beta': 'compact-2026-01-12' },
      extraNanos: COMPACTION,
    },
  ),
  {
    name: 'an advisor',
    of: MESSAGES,
    body: (_, upstream) => ({
      tools: [
        { type: 'advisor_20260301', name: 'advisor', model: model('advisor', upstream), max_uses: 1, max_tokens: 500 },
      ],
    }),
    headers: { 'anthropic-beta': 'advisor-tool-2026-03-01' },
    extraNanos: ADVICE,
  },
  {
    name: 'an advisor that the key may not use',
    of: MESSAGES,
    body: (_, upstream) => ({
      tools: [{ type: 'advisor_20260301', name: 'advisor', model: model('foreign', upstream) }],
    }),
    isForbidden: true,
  },
  plain(
    'web search',
    MESSAGES,
    { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] },
    { extraNanos: SEARCH_FEES },
  ),
  plain('web search', RESPONSES, { tools: [{ type: 'web_search' }] }, { extraNanos: SEARCH_FEES }),
  plain(
    'one web search',
    RESPONSES,
    { tools: [{ type: 'web_search' }], max_tool_calls: 1 },
    { extraNanos: SEARCH_FEES / 3 },
  ),
  plain('an image', RESPONSES, { tools: [{ type: 'image_generation' }] }, { extraNanos: IMAGE }),
  forbidden('a hosted tool without a fee', RESPONSES, {
    tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
  }),
  plain('a cache of 12 hours', OPENAI, { prompt_cache_options: { ttl: '12h' } }, { multiplier: 4 }),
  forbidden('billing_policy', MESSAGES, { billing_policy: { type: 'x' } }),
  forbidden('user_profile_id', MESSAGES, { user_profile_id: 'uprof_1' }),
  forbidden('workspace_id', MESSAGES, { workspace_id: 'wrkspc_1' }),
  forbidden('fallback_credit_token', MESSAGES, { fallback_credit_token: 'fct_1' }),
  forbidden("somebody's container", MESSAGES, { container: 'container_011' }),
  forbidden("somebody's thread", MESSAGES, { thread: { id: 'thread_1' } }),
  forbidden("somebody's conversation", RESPONSES, { conversation: 'conv_1' }),
  forbidden("somebody's response", RESPONSES, { previous_response_id: 'resp_of_somebody' }),
  plain("a router's plugins", ['chat-completions'], { plugins: [{ id: 'web' }] }, { isForbidden: true }),
  plain("a router's preset", ['chat-completions'], { preset: 'mine' }, { isForbidden: true }),
  {
    name: "a router's models",
    of: ['chat-completions'],
    body: (_, upstream) => ({ models: [model('base', upstream), model('spare', upstream)] }),
    multiplier: 3,
  },
];

/** Endings without a true report, which only what can be counted has. */
const COUNTED: readonly VendorEnding[] = ['unreported', 'half reported', 'zeros', 'billions', 'left early'];
const STREAMED: readonly VendorEnding[] = ['cut', 'left'];

/** `ample`: ten dollars. `enough`: what the call can come to at most. `short`: a part of that, from little to most. */
const BUDGETS = ['ample', 'enough', 'short'] as const;
type Budget = (typeof BUDGETS)[number];

export interface MoneyCase {
  readonly id: number;
  readonly client: ProtocolEndpoint;
  readonly upstream: ProtocolEndpoint;
  readonly stream: boolean;
  readonly member: MoneyMember;
  readonly ending: VendorEnding;
  readonly budget: Budget;
  readonly prompt: readonly string[];
  readonly output: number;
  readonly limit: number | undefined;
  readonly turn: boolean;
  /** How much of what is enough is there when the budget is short. */
  readonly share: number;
}

/** The product of everything, in an order of the seed's, and again with other numbers until there are enough. */
export function moneyCases(count: number, random: SeededRandom): MoneyCase[] {
  const product = combinations();
  const draws = (most: number): number => Math.floor(random.next() * most);
  const cases: MoneyCase[] = [];
  while (cases.length < count) {
    for (const combination of shuffled(product, draws)) {
      if (cases.length >= count) break;
      const output = 30 + draws(300);
      // Messages demands one.
      const limit = combination.client === 'messages' || draws(2) === 0 ? 40 + draws(400) : undefined;
      const turn = draws(2) === 0;
      const share = 0.02 + 0.5 * random.next() ** 2;
      const prompt = prose(40 + draws(800));
      cases.push({ ...combination, id: cases.length, prompt, output, limit, turn, share });
    }
  }
  return cases;
}

type Combination = Omit<MoneyCase, 'id' | 'prompt' | 'output' | 'limit' | 'turn' | 'share'>;

function combinations(): Combination[] {
  const all: Combination[] = [];
  for (const member of MONEY_MEMBERS)
    for (const client of member.of)
      for (const upstream of PROTOCOLS)
        for (const stream of [true, false])
          for (const ending of endingsOf(member, stream))
            for (const budget of budgetsOf(member)) all.push({ member, client, upstream, stream, ending, budget });
  return all;
}

function endingsOf(member: MoneyMember, stream: boolean): readonly VendorEnding[] {
  // It ends before the vendor says anything.
  if (member.isForbidden === true) return ['reported'];
  if (member.isCountable !== true) return REPORTED;
  const shown: readonly VendorEnding[] = member.showsOutput === true ? ['inflated'] : [];
  return [...REPORTED, ...COUNTED, ...shown, ...(stream ? STREAMED : [])];
}

const budgetsOf = ({ isForbidden }: MoneyMember): readonly Budget[] => (isForbidden === true ? ['ample'] : BUDGETS);

function shuffled<T>(list: readonly T[], draws: (most: number) => number): T[] {
  const copy = [...list];
  for (let left = copy.length; left > 1; left -= 1) {
    const at = draws(left);
    [copy[left - 1], copy[at]] = [copy[at]!, copy[left - 1]!];
  }
  return copy;
}

/** The request as its client sends it. */
export function moneyRequest({ id, client, upstream, stream, member, prompt, limit }: MoneyCase): JsonObject {
  const text = `case-${id}:${prompt.join('')}`;
  const common = { model: `base-${upstream}`, ...(stream && { stream }) };
  if (client === 'responses')
    return { ...common, input: text, ...(limit && { max_output_tokens: limit }), ...member.body(client, upstream) };
  const messages = [{ role: 'user', content: text }];
  return { ...common, messages, ...(limit && { max_tokens: limit }), ...member.body(client, upstream) };
}
