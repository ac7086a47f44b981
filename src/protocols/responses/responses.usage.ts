import {
  countIn,
  hasAny,
  irregularIn,
  mediaIn,
  mediaOut,
  objectIn,
  tierIn,
  withParts,
  type JsonFields,
  type TokenUsage,
} from '../../call/index.js';
import type { JsonObject } from '../../shared/index.js';
import { MAX_ID_LENGTH } from './responses.head.js';
import type { ToolUses } from './responses.tools.js';

const TOTALS = { input: 'input_tokens', output: 'output_tokens' };

/** The usage of a response; undefined when there is none to speak of. Input includes what was cached. */
function responsesUsage(usage: JsonObject | undefined): TokenUsage | undefined {
  const input = countIn(usage, 'input_tokens');
  const output = countIn(usage, 'output_tokens');
  if (!hasAny(usage, 'input_tokens', 'output_tokens')) return undefined;
  const details = objectIn(usage, 'input_tokens_details');
  const outputDetails = objectIn(usage, 'output_tokens_details');
  return withParts({
    input: input ?? 0,
    cacheRead: countIn(details, 'cached_tokens') ?? 0,
    cacheWrite: countIn(details, 'cache_write_tokens') ?? 0,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: countIn(outputDetails, 'reasoning_tokens') ?? 0,
    ...mediaIn(details),
    ...mediaOut(outputDetails),
    ...irregularIn(usage, TOTALS),
  });
}

/** The same for a client; what nobody counted is zero. */
export const writeUsage = (usage: TokenUsage): JsonObject => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

/** The members of a response that say what it used, for a reader of them. */
export const usageMembers = (parent: string): readonly string[] =>
  ['usage', 'service_tier', 'id', 'output'].map((name) => parent + name);

/**
 * The usage of a response that lies in these fields, with what else it is charged by.
 * @param parent `response.` when it lies in an event, else empty
 * @param toolUses what the upstream ran for it
 */
export const usageOf = (fields: JsonFields, parent: string, toolUses: ToolUses | undefined): TokenUsage | undefined =>
  usageWith(fields.object(`${parent}usage`), (name) => fields.value(parent + name), toolUses);

/** The same of a response that has been parsed. */
export const usageIn = (response: JsonObject, toolUses: ToolUses | undefined): TokenUsage | undefined =>
  usageWith(objectIn(response, 'usage'), (name) => response[name], toolUses);

function usageWith(
  counts: JsonObject | undefined,
  member: (name: string) => unknown,
  toolUses: ToolUses | undefined,
): TokenUsage | undefined {
  const usage = responsesUsage(counts);
  if (usage === undefined) return undefined;
  const id = member('id');
  return {
    ...usage,
    ...tierIn(member('service_tier')),
    ...(typeof id === 'string' && id.length <= MAX_ID_LENGTH && { answerId: id }),
    ...(toolUses && { toolUses }),
  };
}
