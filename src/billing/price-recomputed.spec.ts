import { type Call, EFFORTS, NO_TOKENS, type TokenUsage, Waits } from '../call/index.js';
import { type CatalogModel, parsePricing, type PricingDefinition } from '../catalog/index.js';
import type { Caller } from '../keys/index.js';
import { parseUsd } from '../shared/index.js';
import type { CallRow } from './call-row.js';
import { finishedRow } from './finished-row.js';
import { admissionRequest, type BillingPlan } from './plan.js';
import { type BillingDesk, Ticket } from './ticket.js';
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
const CLASSES = [
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
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
    ...(dice.chance(50) && { tool_fees: maybe(TOOLS, () => dice.decimal(2, 9)) }),
    tiers: [tier(0), ...(dice.chance(50) ? [tier(1 + dice.below(50_000))] : [])],
  };
}

function aUsage(dice: Dice): TokenUsage {
  // No prompt is empty.
  const input = 1 + dice.tokens();
  const output = dice.tokens();
  const part = (of: number): number => (dice.chance(50) ? 0 : dice.below(of + 1));
  const cacheRead = part(input);
  const cacheWrite = part(input - cacheRead);
  return {
    ...NO_TOKENS,
    input,
    cacheRead,
    cacheWrite,
    cacheWrite1h: part(input - cacheRead - cacheWrite),
    output,
    reasoning: part(output),
    // Parts that may overlap with what was cached or thought.
    ...(dice.chance(30) && { imageInput: dice.below(input + 1) }),
    ...(dice.chance(30) && { audioInput: dice.below(input + 1) }),
    ...(dice.chance(30) && { audioOutput: dice.below(output + 1) }),
    ...(dice.chance(40) && { toolUses: Object.fromEntries(TOOLS.map((tool) => [tool, dice.below(4)])) }),
    ...(dice.chance(60) && { serviceTier: dice.pick(['default', 'priority', 'flex', 'unheard-of']) }),
  };
}

const millionths = (decimal: string): bigint => parseUsd(decimal) / 1000n;

function aPlan(dice: Dice, name: string): BillingPlan {
  const group: BillingPlan['group'] = {
    name: dice.pick(['default', 'saver']),
    multiplier: millionths(dice.decimal(3, 6)),
    modelMultipliers: new Map(dice.chance(30) ? [[name, millionths(dice.decimal(3, 6))]] : []),
  };
  const pricing = parsePricing(aPricing(dice));
  const model = {
    name,
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    capabilities: {},
    pricing,
    priceVersionId: `prc_${name}`,
  };
  const caller = { accountId: 'acc_1', keyId: 'key_1', keyVersion: 1 } as Caller;
  return { caller, model: model as CatalogModel, group, catalogVersion: 1n };
}

function aCall(dice: Dice): Call {
  const serviceTier = dice.pick([undefined, 'auto', 'default', 'priority', 'flex']);
  const effort = dice.pick([undefined, ...EFFORTS]);
  const size = { bytes: 100, encodedBytes: 0, images: 0 };
  const head = { model: 'm', stream: true, outputLimit: 100, answers: 1, effort, serviceTier, size };
  return { id: 'req_1', createdAt: 0, protocol: 'responses', ip: '', head } as unknown as Call;
}

/** The row of a call that was admitted under the plan and used this. */
async function rowOf(call: Call, plan: BillingPlan, usage: TokenUsage): Promise<CallRow> {
  const { snapshot } = admissionRequest(call, plan, 'prs_1').request;
  // What the row says of a usage is asked here, not whether the usage can be true.
  const all = { prompt: Infinity, completion: Infinity, completionShown: undefined, maxToolUses: () => Infinity };
  const bounds = { ...usageBounds(call.head, plan), ...all };
  const desk: BillingDesk = {
    admit: () => Promise.resolve({ plan, snapshot, outputLimit: undefined, bounds, credit: undefined }),
    settle: () => Promise.resolve(),
    giveUp: () => undefined,
  };
  const ticket = new Ticket(call, plan.caller, desk, { startedMs: 0, waits: new Waits(0) });
  await ticket.admit(() => plan);
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
}

/** The nano-dollars of a row, from the row alone. Checks that its lines say what its prices and its counts say. */
function recomputed(row: CallRow): bigint {
  const snapshot = JSON.parse(row.snapshot!) as {
    readonly tiers: readonly Readonly<Record<string, string | number>>[];
    readonly request_fee: string;
    readonly tool_fees?: Readonly<Record<string, string>>;
    readonly service_tier_multiplier: string;
    readonly effort_multiplier: string;
    readonly group_multiplier: string;
  };
  const lines = JSON.parse(row.lines!) as readonly Line[];
  const tier = snapshot.tiers.findLast((one) => Number(one['from_prompt_tokens']) <= row.prompt_tokens!)!;
  let sum: Fraction = [0n, 1n];
  for (const { item, quantity, price } of lines) {
    const tool = item.startsWith('tool:') ? item.slice(5) : undefined;
    const stored = tool === undefined ? (tier[item] ?? snapshot.request_fee) : (snapshot.tool_fees?.[tool] ?? '0');
    // Said by hand: half a million expectations take their time.
    if (!isSame(fraction(price), fraction(String(stored)))) throw new Error(`${item} at ${price}, not ${stored}`);
    const perUnit: Fraction = item in tier ? [1n, 1_000_000n] : [1n, 1n];
    sum = plus(sum, times(times([BigInt(quantity), 1n], fraction(String(stored))), perUnit));
  }
  const multipliers = [snapshot.service_tier_multiplier, snapshot.effort_multiplier, snapshot.group_multiplier];
  const [numerator, denominator] = multipliers.map(fraction).reduce(times, times(sum, [1_000_000_000n, 1n]));
  if (numerator === 0n) return 0n;
  const floor = numerator / denominator;
  const nanos = 2n * (numerator - floor * denominator) >= denominator ? floor + 1n : floor;
  return nanos === 0n ? 1n : nanos;
}

const quantityOf = (row: CallRow, ...items: readonly string[]): number =>
  (JSON.parse(row.lines!) as readonly Line[])
    .filter(({ item }) => items.includes(item))
    .reduce((sum, { quantity }) => sum + quantity, 0);

describe('a row of the log', () => {
  it(`has a cost that follows from itself alone, to the nano-dollar, in ${ROWS} cases`, async () => {
    const dice = new Dice(20_261_122);
    let charged = 0;
    for (let index = 0; index < ROWS; index += 1) {
      const usage = aUsage(dice);
      const row = await rowOf(aCall(dice), aPlan(dice, 'm'), usage);
      expect(BigInt(row.cost)).toBe(recomputed(row));
      // Every token is on exactly one line.
      const prompt = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'image_input', 'audio_input'];
      expect(quantityOf(row, ...prompt)).toBe(usage.input);
      expect(quantityOf(row, 'output', 'reasoning', 'audio_output')).toBe(usage.output);
      if (row.cost !== '0') charged += 1;
    }
    expect(charged).toBeGreaterThan(ROWS / 2);
  });

  it('keeps the tier that it was answered in, not the one that was held for', async () => {
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
