import { countIn, objectIn, withParts, type TokenUsage } from '../../call/index.js';
import type { JsonObject } from '../../shared/index.js';

/** The prompt's side of a report; this dialect counts what went through a cache apart from `input_tokens`. */
interface Prompt {
  readonly uncached: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
}

/** The usage of one answer, from reports that are cumulative: each replaces what the ones before said. */
export class MessagesUsage {
  #prompt: Prompt = { uncached: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
  #output = 0;
  #reasoning = 0;

  /** Takes a `usage` object in; what is known by now, or undefined when the object says nothing. */
  merge(usage: JsonObject | undefined): TokenUsage | undefined {
    if (usage === undefined || Object.keys(usage).length === 0) return undefined;
    this.#prompt = this.#mergePrompt(usage);
    this.#output = countIn(usage, 'output_tokens') ?? this.#output;
    this.#reasoning = countIn(objectIn(usage, 'output_tokens_details'), 'thinking_tokens') ?? this.#reasoning;
    const { uncached, cacheRead, cacheWrite, cacheWrite1h } = this.#prompt;
    const input = uncached + cacheRead + cacheWrite + cacheWrite1h;
    return withParts({ input, cacheRead, cacheWrite, cacheWrite1h, output: this.#output, reasoning: this.#reasoning });
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

const total = ({ uncached, cacheRead, cacheWrite, cacheWrite1h }: Prompt): number =>
  uncached + cacheRead + cacheWrite + cacheWrite1h;
