import { type CatalogModel, parsePricing, type PricingDefinition } from '../../catalog/index.js';
import type { Caller } from '../../keys/index.js';
import { parseUsd } from '../../platform/shared/index.js';
import {
  type RequestDemands,
  type Call,
  EFFORTS,
  NO_TOKENS,
  type TokenUsage,
  Waits,
} from '../../protocols/contract/index.js';
import { type CallRow, finishedRow } from './call-row.js';
import { admissionRequest, type BillingPlan } from './plan.js';
import { type BillingPort, Ticket } from './ticket.js';
import { usageBounds } from './usage-check.js';

// Rows made by the program, and their cost worked out again from nothing but what stands on them, by fractions of
// whole numbers that share no code with it.

const ROWS = 10_000;

/** A sequence of numbers that is the same every time (xorshift32). */
class Dice {
  constructor(private state: number) {}

  below(limit: number): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return (this.state >>> 0) % limit;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  decimal(whole: number, digits: number): string {
    const behind = Array.from({ length: this.below(digits + 1) }, () => this.below(10)).join('');
    return behind === '' ? String(this.below(whole)) : `${this.below(whole)}.${behind}`;
  }

  tokens(): number {
    return this.chance(20) ? 0 : this.below(10 ** (1 + this.below(6)));
  }
}

const TOOLS = ['web_search', 'file_search', 'code_interpreter'];
const IMAGE_CLASSES = ['text_input', 'image_input', 'text_output', 'image_output'];
const CLASSES = [
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'cache_write_12h',
  'reasoning',
  'image_input',
  'audio_input',
  'audio_output',
];

function aPricing(dice: Dice): PricingDefinition {
  const price = (): string => (dice.chance(10) ? '0' : dice.decimal(80, 9));
  const tier = (from_prompt_tokens: number) => ({
    from_prompt_tokens,
    input: price(),
    output: price(),
    ...Object.fromEntries(CLASSES.filter(() => dice.chance(40)).map((name) => [name, price()])),
  });
  const maybe = (names: readonly string[], value: () => string): Record<string, string> =>
    Object.fromEntries(names.filter(() => dice.chance(50)).map((name) => [name, value()]));
  return {
    free: dice.chance(5),
    request_fee: dice.chance(50) ? '0' : dice.decimal(2, 9),
    effort_multipliers: maybe(EFFORTS, () => dice.decimal(4, 6)),
    ...(dice.chance(50) && { service_tiers: maybe(['priority', 'flex'], () => dice.decimal(4, 6)) }),
    ...(dice.chance(50) && { speeds: maybe(['fast'], () => dice.decimal(9, 6)) }),
    ...(dice.chance(50) && { geos: maybe(['us', 'eu'], () => dice.decimal(2, 6)) }),
    ...(dice.chance(50) && {
      image_generation: Object.fromEntries(IMAGE_CLASSES.map((name) => [name, dice.decimal(80, 9)])),
    }),
    ...(dice.chance(50) && { tool_fees: maybe(TOOLS, () => dice.decimal(2, 9)) }),
    tiers: [tier(0), ...(dice.chance(50) ? [tier(1 + dice.below(50_000))] : [])],
  };
}

/** Tokens of one pass, with every class that tiers price. */
function someTokens(dice: Dice): TokenUsage {
  // No prompt is empty.
  const input = 1 + dice.tokens();
  const output = dice.tokens();
  const part = (of: number): number => (dice.chance(50) ? 0 : dice.below(of + 1));
  const cacheRead = part(input);
  const cacheWrite = part(input - cacheRead);
  const cacheWrite1h = part(input - cacheRead - cacheWrite);
  return {
    ...NO_TOKENS,
    input,
    cacheRead,
    cacheWrite,
    cacheWrite1h,
    cacheWrite12h: part(input - cacheRead - cacheWrite - cacheWrite1h),
    output,
    reasoning: part(output),
    // Parts that may overlap with what was cached or thought.
    ...(dice.chance(30) && { imageInput: dice.below(input + 1) }),
    ...(dice.chance(30) && { audioInput: dice.below(input + 1) }),
    ...(dice.chance(30) && { audioOutput: dice.below(output + 1) }),
  };
}

function aUsage(dice: Dice): TokenUsage {
  const named = (): string | undefined => dice.pick([undefined, 'm', 'vendor-helper', 'other-20260205', 'unheard-of']);
  const passes = Array.from({ length: dice.below(3) }, () => ({ model: named(), usage: someTokens(dice) }));
  const servedBy = dice.chance(20) ? named() : undefined;
  const images = { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 };
  for (const name of Object.keys(images) as (keyof typeof images)[]) images[name] = dice.tokens();
  return {
    ...someTokens(dice),
    ...(dice.chance(40) && { passes }),
    ...(servedBy !== undefined && { servedBy }),
    ...(dice.chance(30) && { imageGeneration: images }),
    ...(dice.chance(50) && { speed: dice.pick(['standard', 'fast']) }),
    ...(dice.chance(50) && { geo: dice.pick(['global', 'us', 'eu', 'not_available']) }),
    ...(dice.chance(40) && { toolUses: Object.fromEntries(TOOLS.map((tool) => [tool, dice.below(4)])) }),
    ...(dice.chance(60) && { serviceTier: dice.pick(['default', 'priority', 'flex', 'unheard-of']) }),
  };
}

const millionths = (decimal: string): bigint => parseUsd(decimal) / 1000n;

function aPlan(dice: Dice, name: string): BillingPlan {
  const group: BillingPlan['group'] = {
    name: dice.pick(['default', 'saver']),
    multiplier: millionths(dice.decimal(3, 6)),
    modelMultipliers: new Map(
      [name, 'helper'].filter(() => dice.chance(30)).map((one) => [one, millionths(dice.decimal(3, 6))]),
    ),
  };
  const model = aModel(dice, name);
  const others = ['helper', 'other'].filter(() => dice.chance(50)).map((one) => aModel(dice, one));
  const namedModels = new Map(others.map((other) => [other.name, other]));
  const caller = { accountId: 'acc_1', keyId: 'key_1', keyVersion: 1 } as Caller;
  return { caller, model, group, catalogVersion: 1n, namedModels };
}

function aModel(dice: Dice, name: string): CatalogModel {
  const pricing = parsePricing(aPricing(dice));
  const model = {
    name,
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    capabilities: {},
    pricing,
    priceVersionId: `prc_${name}`,
  };
  return model as CatalogModel;
}

function aCall(dice: Dice): Call {
  const serviceTier = dice.pick([undefined, 'auto', 'default', 'priority', 'flex']);
  const effort = dice.pick([undefined, ...EFFORTS]);
  const size = { bytes: 100, encodedBytes: 0, images: 0 };
  const demands: RequestDemands = {
    speed: dice.pick([undefined, 'fast']),
    geo: dice.pick([undefined, 'us', 'global']),
    models: [],
    hostedTools: ['web_search', 'file_search', 'image_generation'].map((name) => ({ name, path: 'tools' })),
    addsPasses: true,
    scopedIds: [],
    unknownMembers: [],
  };
  const head = { model: 'm', stream: true, outputLimit: 100, choices: 1, effort, serviceTier, size, demands };
  return { id: 'req_1', createdAt: 0, protocol: 'responses', ip: '', head } as unknown as Call;
}

/** The row of a call that was admitted under the plan and used this. */
async function rowOf(call: Call, plan: BillingPlan, usage: TokenUsage): Promise<CallRow> {
  const { snapshot } = admissionRequest(call, plan, 'prs_1').request;
  // Checks the row of a usage, not whether the usage is plausible.
  const all = { prompt: Infinity, completion: Infinity, completionShown: undefined, maxToolUses: () => Infinity };
  const bounds = { ...usageBounds(call.head, plan), ...all };
  const service: BillingPort = {
    admit: () => Promise.resolve({ plan, snapshot, outputLimit: undefined, bounds, credit: undefined }),
    count: () => Promise.resolve(undefined),
    settle: () => Promise.resolve(),
    giveUp: () => undefined,
  };
  const ticket = new Ticket(call, plan.caller, service, { startedMs: 0, waits: new Waits(0) });
  await ticket.admit(() => plan);
  const offers = { models: new Map([['helper', ['vendor-helper']]]), costs: new Map() };
  ticket.beginAttempt({
    channel: 'c',
    protocol: call.protocol,
    upstreamModel: 'm',
    credential: 1,
    cost: undefined,
    offers,
  });
  ticket.note([{ type: 'usage', usage }]);
  return finishedRow(ticket, { status: 'succeeded' }, 1);
}

/** Numerator over denominator. */
type Fraction = readonly [bigint, bigint];

function fraction(decimal: string): Fraction {
  const [whole = '0', digits = ''] = decimal.split('.');
  return [BigInt(whole + digits), 10n ** BigInt(digits.length)];
}
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
const isSame = ([a, b]: Fraction, [c, d]: Fraction): boolean => a * d === c * b;
const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d];

interface Line {
  readonly item: string;
  readonly quantity: number;
  readonly price: string;
  readonly pass?: number;
  readonly model?: string;
}

interface Snapshot {
  readonly tiers: readonly Readonly<Record<string, string | number>>[];
  readonly request_fee: string;
  readonly tool_fees?: Readonly<Record<string, string>>;
  readonly image_generation?: Readonly<Record<string, string>>;
  readonly service_tier_multiplier: string;
  readonly speed_multiplier?: string;
  readonly geo_multiplier?: string;
  readonly effort_multiplier: string;
  readonly group_multiplier: string;
  readonly models?: Readonly<Record<string, Snapshot>>;
}

const PROMPT = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'cache_write_12h',
  'image_input',
  'audio_input',
];

/** The dollars of one pass, from its lines and the prices of its model. */
function passCost(lines: readonly Line[], snapshot: Snapshot): Fraction {
  const prompt = lines.filter(({ item }) => PROMPT.includes(item)).reduce((all, { quantity }) => all + quantity, 0);
  const tier = snapshot.tiers.findLast((one) => Number(one['from_prompt_tokens']) <= prompt)!;
  let sum: Fraction = [0n, 1n];
  for (const { item, quantity, price } of lines) {
    const [kind = '', name = ''] = item.split(':');
    const prices = { tool: snapshot.tool_fees, image_generation: snapshot.image_generation }[kind];
    const stored = name === '' ? (tier[item] ?? snapshot.request_fee) : (prices?.[name] ?? '0');
    // Said by hand: half a million expectations take their time.
    if (!isSame(fraction(price), fraction(String(stored)))) throw new Error(`${item} at ${price}, not ${stored}`);
    const perUnit: Fraction = item in tier || kind === 'image_generation' ? [1n, 1_000_000n] : [1n, 1n];
    sum = plus(sum, times(times([BigInt(quantity), 1n], fraction(String(stored))), perUnit));
  }
  const { service_tier_multiplier, speed_multiplier = '1', geo_multiplier = '1' } = snapshot;
  const service = [service_tier_multiplier, speed_multiplier, geo_multiplier];
  return [...service, snapshot.effort_multiplier, snapshot.group_multiplier].map(fraction).reduce(times, sum);
}

/** The nano-dollars of a row, from the row alone. Checks that its lines say what its prices and its counts say. */
function recomputed(row: CallRow): bigint {
  const snapshot = JSON.parse(row.snapshot!) as Snapshot;
  const passes = new Map<number, Line[]>();
  for (const line of JSON.parse(row.lines!) as readonly Line[])
    passes.set(line.pass ?? 0, [...(passes.get(line.pass ?? 0) ?? []), line]);
  const dollars = [...passes.values()]
    .map((lines) => passCost(lines, snapshot.models?.[lines[0]!.model ?? ''] ?? snapshot))
    .reduce(plus, [0n, 1n]);
  const [numerator, denominator] = times(dollars, [1_000_000_000n, 1n]);
  if (numerator === 0n) return 0n;
  const floor = numerator / denominator;
  const nanos = 2n * (numerator - floor * denominator) >= denominator ? floor + 1n : floor;
  return nanos === 0n ? 1n : nanos;
}

const quantityOf = (row: CallRow, ...items: readonly string[]): number =>
  (JSON.parse(row.lines!) as readonly Line[])
    .filter(({ item }) => items.includes(item))
    .reduce((sum, { quantity }) => sum + quantity, 0);

describe('a call row', () => {
  it(`contains everything needed to recompute its cost to the nano-dollar, in ${ROWS} cases`, async () => {
    const dice = new Dice(20_261_122);
    let charged = 0;
    for (let index = 0; index < ROWS; index += 1) {
      const usage = aUsage(dice);
      const row = await rowOf(aCall(dice), aPlan(dice, 'm'), usage);
      expect(BigInt(row.cost)).toBe(recomputed(row));
      // Every token is on exactly one line.
      const all = [usage, ...(usage.passes ?? []).map((pass) => pass.usage)];
      const prompt = all.reduce((sum, { input }) => sum + input, 0);
      const output = all.reduce((sum, one) => sum + one.output, 0);
      expect([quantityOf(row, ...PROMPT), row.prompt_tokens]).toEqual([prompt, prompt]);
      expect([quantityOf(row, 'output', 'reasoning', 'audio_output'), row.completion_tokens]).toEqual([output, output]);
      if (row.cost !== '0') charged += 1;
    }
    expect(charged).toBeGreaterThan(ROWS / 2);
  });

  it('stores the tier that was charged, not the one that was held', async () => {
    const dice = new Dice(1);
    const plan = aPlan(dice, 'm');
    const pricing = parsePricing({
      free: false,
      request_fee: '0',
      effort_multipliers: {},
      service_tiers: { priority: '2' },
      tiers: [{ from_prompt_tokens: 0, input: '1', output: '1' }],
    });
    const call = { ...aCall(dice), head: { ...aCall(dice).head, serviceTier: 'auto' } } as Call;
    const priced = { ...plan, model: { ...plan.model, pricing } };
    const held = JSON.parse(admissionRequest(call, priced, 'prs_1').request.snapshot) as object;
    expect(held).toMatchObject({ service_tier: 'priority', service_tier_multiplier: '2' });
    const row = await rowOf(call, priced, { ...NO_TOKENS, input: 5, serviceTier: 'default' });
    expect(JSON.parse(row.snapshot!)).toMatchObject({ service_tier_multiplier: '1' });
    expect(JSON.parse(row.snapshot!)).not.toHaveProperty('service_tier');
  });
});
