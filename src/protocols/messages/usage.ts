import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  addUsage,
  countIn,
  irregularIn,
  type IrregularTotals,
  modelIn,
  NO_TOKENS,
  objectIn,
  placeIn,
  tierIn,
  type TokenUsage,
  type UsagePass,
  withParts,
} from '../contract/index.js';

/** Prompt tokens of a report; cached ones are not part of `input_tokens`. */
interface Prompt {
  readonly uncached: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
}

const TOTALS = { input: 'input_tokens', output: 'output_tokens' };

/** Usage from cumulative reports: each replaces the previous ones. */
export class MessagesUsage {
  #prompt: Prompt = { uncached: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
  #output = 0;
  #reasoning = 0;
  /** Undefined before the first report. */
  #irregular: IrregularTotals | undefined;
  #beside: Pick<TokenUsage, 'serviceTier' | 'toolUses' | 'speed' | 'geo'> = {};
  #iterations: readonly JsonObject[] = [];

  /** Undefined if the report is empty. */
  merge(usage: JsonObject | undefined): TokenUsage | undefined {
    if (usage === undefined || Object.keys(usage).length === 0) return undefined;
    this.#prompt = this.#mergePrompt(usage);
    this.#output = countIn(usage, 'output_tokens') ?? this.#output;
    this.#reasoning = countIn(objectIn(usage, 'output_tokens_details'), 'thinking_tokens') ?? this.#reasoning;
    this.#beside = { ...this.#beside, ...tierIn(usage['service_tier']), ...placeIn(usage), ...toolUsesIn(usage) };
    this.#iterations = iterationsIn(usage) ?? this.#iterations;
    const irregular = (this.#irregular = this.#mergeIrregular(usage));
    const isRegular = irregular.input === undefined && irregular.output === undefined;
    const { uncached, cacheRead, cacheWrite, cacheWrite1h } = this.#prompt;
    const input = uncached + cacheRead + cacheWrite + cacheWrite1h;
    const prompt = { input, cacheRead, cacheWrite, cacheWrite1h };
    const output = { output: this.#output, reasoning: this.#reasoning };
    const totals = withParts({ ...prompt, ...output, ...this.#beside, ...(!isRegular && { irregular }) });
    return this.#iterations.length === 0 ? totals : withIterations(totals, this.#iterations);
  }

  /** A report may omit earlier totals; for output, an invalid value does not replace a count. */
  #mergeIrregular(usage: JsonObject): IrregularTotals {
    const before = this.#irregular;
    const { input, output } = irregularIn(usage, TOTALS).irregular ?? {};
    const isInputKnown = before !== undefined && before.input === undefined;
    const isOutputKnown = before !== undefined && before.output === undefined && output === '';
    return {
      ...(input !== undefined && !isInputKnown && { input }),
      ...(output !== undefined && !isOutputKnown && { output }),
    };
  }

  /**
   * A report with cache counts replaces the whole prompt: some servers first report the whole prompt as `input_tokens`,
   * and caching only at the end.
   */
  #mergePrompt(usage: JsonObject): Prompt {
    const before = this.#prompt;
    const uncached = countIn(usage, 'input_tokens');
    const split = readSplit(usage);
    if (split === undefined) return { ...before, uncached: Math.max(before.uncached, uncached ?? 0) };
    const after = { uncached: uncached ?? before.uncached, ...split };
    // All zeros after a known prompt are placeholders.
    return total(after) === 0 ? before : after;
  }
}

/** Cache counts; undefined if absent. */
function readSplit(usage: JsonObject): Omit<Prompt, 'uncached'> | undefined {
  const cacheRead = countIn(usage, 'cache_read_input_tokens');
  const written = countIn(usage, 'cache_creation_input_tokens');
  const creation = objectIn(usage, 'cache_creation');
  const shortLived = countIn(creation, 'ephemeral_5m_input_tokens');
  const longLived = countIn(creation, 'ephemeral_1h_input_tokens');
  if ((cacheRead ?? written ?? shortLived ?? longLived) === undefined) return undefined;
  const cacheWrite1h = longLived ?? 0;
  const cacheWrite = written === undefined ? (shortLived ?? 0) : Math.max(0, written - cacheWrite1h);
  return { cacheRead: cacheRead ?? 0, cacheWrite, cacheWrite1h };
}

const REQUESTS = /^([a-z][a-z0-9_]{0,63})_requests$/;

/** Uses of hosted tools: `{ web_search_requests: 2 }`. */
function toolUsesIn(usage: JsonObject): Pick<TokenUsage, 'toolUses'> {
  if (!usage['server_tool_use']) return {};
  const ran = objectIn(usage, 'server_tool_use');
  const uses = Object.keys(ran).flatMap((name): [string, number][] => {
    const tool = REQUESTS.exec(name)?.[1];
    const count = countIn(ran, name) ?? 0;
    return tool !== undefined && count > 0 ? [[tool, count]] : [];
  });
  return uses.length > 0 ? { toolUses: Object.fromEntries(uses) } : {};
}

const total = ({ uncached, cacheRead, cacheWrite, cacheWrite1h }: Prompt): number =>
  uncached + cacheRead + cacheWrite + cacheWrite1h;

function iterationsIn({ iterations }: JsonObject): readonly JsonObject[] | undefined {
  return Array.isArray(iterations) ? (iterations as unknown[]).filter(isJsonObject) : undefined;
}

/** Iterations of the response itself, included in the totals. */
const TURNS: ReadonlySet<unknown> = new Set(['message', 'fallback_message']);
/** Iterations never included in the totals. */
const ADDITIONAL: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message']);

/**
 * Adds iterations. Totals cover the response; compaction and advisors are additional; turns of a declined model and
 * tool loops are included or not, depending on the upstream. So turns of the serving model are summed again, and those
 * of other models become passes.
 */
function withIterations(totals: TokenUsage, iterations: readonly JsonObject[]): TokenUsage {
  const turns = iterations.filter(({ type }) => TURNS.has(type));
  const summed = sumOf(turns);
  const isWhole = tokensOf(summed) >= tokensOf(totals);
  // Unknown kinds are included in the totals if and only if the turns alone do not add up to them.
  const beside = iterations.filter(({ type }) => ADDITIONAL.has(type) || (isWhole && !TURNS.has(type)));
  const servedBy = servingModel(turns);
  const isOthers = (turn: JsonObject): boolean => servedBy !== undefined && modelIn(turn['model']) !== servedBy;
  const own = isWhole ? sumOf(turns.filter((turn) => !isOthers(turn))) : totals;
  const passes = [...turns.filter(isOthers), ...beside].map(passOf);
  return {
    ...totals,
    ...own,
    reasoning: Math.min(totals.reasoning, own.output),
    ...(servedBy !== undefined && { servedBy }),
    ...(passes.length > 0 && { passes }),
  };
}

/** The model of the response; undefined if only the requested one took part. */
function servingModel(turns: readonly JsonObject[]): string | undefined {
  const fallback = turns.findLast(({ type }) => type === 'fallback_message');
  if (fallback !== undefined) return modelIn(fallback['model']);
  const models = turns.map((turn) => modelIn(turn['model'])).filter((model) => model !== undefined);
  return new Set(models).size > 1 ? models.at(-1) : undefined;
}

const passOf = (iteration: JsonObject): UsagePass => ({
  model: modelIn(iteration['model']),
  usage: iterationUsage(iteration),
});

function iterationUsage(iteration: JsonObject): TokenUsage {
  const split = readSplit(iteration) ?? { cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
  const input = total({ uncached: countIn(iteration, 'input_tokens') ?? 0, ...split });
  return { ...NO_TOKENS, ...split, input, output: countIn(iteration, 'output_tokens') ?? 0 };
}

const sumOf = (iterations: readonly JsonObject[]): TokenUsage =>
  iterations.map(iterationUsage).reduce(addUsage, NO_TOKENS);

const tokensOf = ({ input, output }: TokenUsage): number => input + output;
