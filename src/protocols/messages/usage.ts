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

/** The prompt's side of a report; this dialect counts what went through a cache apart from `input_tokens`. */
interface Prompt {
  readonly uncached: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
}

const TOTALS = { input: 'input_tokens', output: 'output_tokens' };

/** The usage of one answer, from reports that are cumulative: each replaces what the ones before said. */
export class MessagesUsage {
  #prompt: Prompt = { uncached: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
  #output = 0;
  #reasoning = 0;
  /** Undefined before the first report. */
  #irregular: IrregularTotals | undefined;
  #beside: Pick<TokenUsage, 'serviceTier' | 'toolUses' | 'speed' | 'geo'> = {};
  #iterations: readonly JsonObject[] = [];

  /** Takes a `usage` object in; what is known by now, or undefined when the object says nothing. */
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

  /** A report may leave out a total that one before it had; that of the output it may not replace by what is no count. */
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
   * A report with cache counters replaces the prompt's side as a whole: there are servers that first give the whole
   * prompt as `input_tokens`, and how much of it was cached only at the end.
   */
  #mergePrompt(usage: JsonObject): Prompt {
    const before = this.#prompt;
    const uncached = countIn(usage, 'input_tokens');
    const split = readSplit(usage);
    if (split === undefined) return { ...before, uncached: Math.max(before.uncached, uncached ?? 0) };
    const after = { uncached: uncached ?? before.uncached, ...split };
    // All zero behind a prompt that was there is a server that fills in what it does not know.
    return total(after) === 0 ? before : after;
  }
}

/** What a report says of caches; undefined when it does not speak of them. */
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

/** The tools that the upstream ran: `{ web_search_requests: 2 }`. */
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

/** Iterations of the answer itself; the totals are theirs. */
const OF_ANSWER: ReadonlySet<unknown> = new Set(['message', 'fallback_message']);
/** Iterations that the totals never include. */
const BESIDE: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message']);

/**
 * Usage with what its iterations add. Totals are those of the answer: compaction and advisors come on top, whether the
 * turns of a declined model do depends on the upstream, and of a loop with tools some upstreams total the first prompt
 * alone. So the turns of the model that served are summed again, and those of every other model are passes.
 */
function withIterations(totals: TokenUsage, iterations: readonly JsonObject[]): TokenUsage {
  const turns = iterations.filter(({ type }) => OF_ANSWER.has(type));
  const summed = sumOf(turns);
  const isWhole = tokensOf(summed) >= tokensOf(totals);
  // An iteration of a kind that is not known here is in the totals exactly when the turns alone do not make them up.
  const beside = iterations.filter(({ type }) => BESIDE.has(type) || (isWhole && !OF_ANSWER.has(type)));
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

/** The model whose turns are the answer; undefined when only one took part, which is the one that was asked for. */
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
